"""BERT's names: in Hugging Face files, in Google's TF1 checkpoints, and in kerazoo's variables."""

from kerazoo.conversion.name_map import NameMap, Rule

HUGGINGFACE_PREFIX = "bert."
GOOGLE_PREFIX = "bert/"

IGNORED_BUFFERS = frozenset({"embeddings.position_ids"})
"""The constant 0, 1, 2, … that old versions of transformers stored beside the weights."""

ARCHITECTURES_WITHOUT_POOLER = frozenset(
    {
        "BertForMaskedLM",
        "BertForTokenClassification",
        "BertForQuestionAnswering",
        "BertLMHeadModel",
    }
)
"""Hugging Face classes that build BERT without the pooling layer."""

POOLER_TARGETS = ("pooler/dense/kernel", "pooler/dense/bias")

# (Hugging Face's stem, kerazoo's stem, config.json fields that decide the sizes).
_EMBEDDINGS = (
    ("embeddings.word_embeddings", "embeddings/token_embedding", "vocab_size"),
    ("embeddings.position_embeddings", "embeddings/position_embedding", "max_position_embeddings"),
    ("embeddings.token_type_embeddings", "embeddings/segment_embedding", "type_vocab_size"),
)
_LAYER_NORMS = (
    ("embeddings.LayerNorm", "embeddings/layer_norm"),
    ("encoder.layer.{i}.attention.output.LayerNorm", "layer_{i}/attention_layer_norm"),
    ("encoder.layer.{i}.output.LayerNorm", "layer_{i}/feed_forward_layer_norm"),
)
_H, _F = "hidden_size", "intermediate_size"
_DENSE_LAYERS = (
    ("encoder.layer.{i}.attention.self.query", "layer_{i}/attention/query", _H, _H),
    ("encoder.layer.{i}.attention.self.key", "layer_{i}/attention/key", _H, _H),
    ("encoder.layer.{i}.attention.self.value", "layer_{i}/attention/value", _H, _H),
    ("encoder.layer.{i}.attention.output.dense", "layer_{i}/attention/attention_output", _H, _H),
    ("encoder.layer.{i}.intermediate.dense", "layer_{i}/feed_forward/intermediate", _H, _F),
    ("encoder.layer.{i}.output.dense", "layer_{i}/feed_forward/feed_forward_output", _F, _H),
    ("pooler.dense", "pooler/dense", _H, _H),
)


def _google(stem: str) -> str:
    """Return Google's TF1 spelling of a Hugging Face stem, without the prefix `bert/`."""
    return stem.replace(".layer.{i}", ".layer_{i}").replace(".", "/")


def _huggingface_rules() -> list[Rule]:
    rules = []
    for source, target, rows in _EMBEDDINGS:
        rules.append(Rule(f"{source}.weight", f"{target}/embeddings", fields=(rows, _H)))
    for source, target in _LAYER_NORMS:
        rules.append(Rule(f"{source}.weight", f"{target}/gamma", fields=(_H,)))
        rules.append(Rule(f"{source}.bias", f"{target}/beta", fields=(_H,)))
    for source, target, inputs, outputs in _DENSE_LAYERS:
        rules.append(Rule(f"{source}.weight", f"{target}/kernel", True, (inputs, outputs)))
        rules.append(Rule(f"{source}.bias", f"{target}/bias", fields=(outputs,)))
    return rules


def _google_rules() -> list[Rule]:
    rules = []
    for source, target, rows in _EMBEDDINGS:
        rules.append(Rule(_google(source), f"{target}/embeddings", fields=(rows, _H)))
    for source, target in _LAYER_NORMS:
        for name in ("gamma", "beta"):
            rules.append(Rule(f"{_google(source)}/{name}", f"{target}/{name}", fields=(_H,)))
    for source, target, inputs, outputs in _DENSE_LAYERS:
        google = _google(source)
        rules.append(Rule(f"{google}/kernel", f"{target}/kernel", fields=(inputs, outputs)))
        rules.append(Rule(f"{google}/bias", f"{target}/bias", fields=(outputs,)))
    return rules


HUGGINGFACE_BACKBONE = NameMap(_huggingface_rules())
HUGGINGFACE_HEADS = NameMap(
    [
        Rule("classifier.weight", "classifier/kernel", True, (_H, "id2label")),
        Rule("classifier.bias", "classifier/bias", fields=("id2label",)),
    ]
)

GOOGLE_BACKBONE = NameMap(_google_rules())
# What Google's run_classifier.py adds: (labels, hidden), hence the transpose.
GOOGLE_HEADS = NameMap(
    [
        Rule("output_weights", "classifier/kernel", True, (_H, "number of labels")),
        Rule("output_bias", "classifier/bias", fields=("number of labels",)),
    ]
)
