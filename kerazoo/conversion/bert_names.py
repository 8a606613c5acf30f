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


# The heads of pre-training; the output matrix is the token embedding.
_HEAD_DENSE_LAYER = ("cls.predictions.transform.dense", "masked_lm/dense")
_HEAD_LAYER_NORM = ("cls.predictions.transform.LayerNorm", "masked_lm/layer_norm")
_CLASSES = "the two classes of next-sentence prediction"
_SPAN = "the two scores of an answer's start and end"

DECODER = "cls.predictions.decoder"
OUTPUT_BIAS = "cls.predictions.bias"
TOKENS = "embeddings.word_embeddings.weight"


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


def _huggingface_head_rules() -> list[Rule]:
    dense, dense_target = _HEAD_DENSE_LAYER
    norm, norm_target = _HEAD_LAYER_NORM
    return [
        Rule("classifier.weight", "classifier/kernel", True, (_H, "id2label")),
        Rule("classifier.bias", "classifier/bias", fields=("id2label",)),
        Rule(f"{dense}.weight", f"{dense_target}/kernel", True, (_H, _H)),
        Rule(f"{dense}.bias", f"{dense_target}/bias", fields=(_H,)),
        Rule(f"{norm}.weight", f"{norm_target}/gamma", fields=(_H,)),
        Rule(f"{norm}.bias", f"{norm_target}/beta", fields=(_H,)),
        Rule(OUTPUT_BIAS, "masked_lm/bias", fields=("vocab_size",)),
        Rule("cls.seq_relationship.weight", "next_sentence/kernel", True, (_H, _CLASSES)),
        Rule("cls.seq_relationship.bias", "next_sentence/bias", fields=(_CLASSES,)),
        Rule("qa_outputs.weight", "span_head/dense/kernel", True, (_H, _SPAN)),
        Rule("qa_outputs.bias", "span_head/dense/bias", fields=(_SPAN,)),
    ]


def _google_head_rules() -> list[Rule]:
    dense, dense_target = _google(_HEAD_DENSE_LAYER[0]), _HEAD_DENSE_LAYER[1]
    norm, norm_target = _google(_HEAD_LAYER_NORM[0]), _HEAD_LAYER_NORM[1]
    return [
        # What Google's run_classifier.py adds: (labels, hidden), hence the transpose.
        Rule("output_weights", "classifier/kernel", True, (_H, "number of labels")),
        Rule("output_bias", "classifier/bias", fields=("number of labels",)),
        Rule(f"{dense}/kernel", f"{dense_target}/kernel", fields=(_H, _H)),
        Rule(f"{dense}/bias", f"{dense_target}/bias", fields=(_H,)),
        Rule(f"{norm}/gamma", f"{norm_target}/gamma", fields=(_H,)),
        Rule(f"{norm}/beta", f"{norm_target}/beta", fields=(_H,)),
        Rule("cls/predictions/output_bias", "masked_lm/bias", fields=("vocab_size",)),
        Rule("cls/seq_relationship/output_weights", "next_sentence/kernel", True, (_H, _CLASSES)),
        Rule("cls/seq_relationship/output_bias", "next_sentence/bias", fields=(_CLASSES,)),
        # What Google's run_squad.py adds.
        Rule("cls/squad/output_weights", "span_head/dense/kernel", True, (_H, _SPAN)),
        Rule("cls/squad/output_bias", "span_head/dense/bias", fields=(_SPAN,)),
    ]


HUGGINGFACE_BACKBONE = NameMap(_huggingface_rules())
HUGGINGFACE_HEADS = NameMap(_huggingface_head_rules())

GOOGLE_BACKBONE = NameMap(_google_rules())
GOOGLE_HEADS = NameMap(_google_head_rules())
