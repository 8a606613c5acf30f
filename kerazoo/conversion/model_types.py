"""The kinds of model in Hugging Face's folders that kerazoo reads and writes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerazoo.conversion import bert_names, gpt_names
from kerazoo.conversion.model_type import ConfigTable, ModelType, TiedTensor
from kerazoo.conversion.name_map import NameMap

TEXT_CLASSIFICATION = "text-classification"
CAUSAL_LM = "causal-lm"
MASKED_LM = "masked-lm"
NEXT_SENTENCE = "next-sentence"
BERT_PRETRAINING = "bert-pretraining"
EXTRACTIVE_QA = "extractive-qa"
TOKEN_CLASSIFICATION = "token-classification"
MULTIPLE_CHOICE = "multiple-choice"

WITH_LABELS = (TEXT_CLASSIFICATION, TOKEN_CLASSIFICATION)
"""The tasks whose classes have names in `config.json`."""

WITH_CLASSIFIER = (*WITH_LABELS, MULTIPLE_CHOICE)
"""The tasks whose head is called `classifier` there, and has a dropout rate of its own."""

_ACTIVATIONS = {
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_approximate",
    "gelu_pytorch_tanh": "gelu_approximate",
    "relu": "relu",
}
_BERT_ARCHITECTURES: dict[str | None, str] = {
    None: "BertModel",
    TEXT_CLASSIFICATION: "BertForSequenceClassification",
    MASKED_LM: "BertForMaskedLM",
    NEXT_SENTENCE: "BertForNextSentencePrediction",
    BERT_PRETRAINING: "BertForPreTraining",
    EXTRACTIVE_QA: "BertForQuestionAnswering",
    TOKEN_CLASSIFICATION: "BertForTokenClassification",
    MULTIPLE_CHOICE: "BertForMultipleChoice",
}
_NO_CROSS_ATTENTION = ("add_cross_attention", False, "has no cross-attention")
_GPT_FIELDS = {
    "num_layers": ("n_layer", 12),
    "num_heads": ("n_head", 12),
    "hidden_dim": ("n_embd", 768),
    "dropout": ("resid_pdrop", 0.1),
    "attention_dropout": ("attn_pdrop", 0.1),
    "layer_norm_epsilon": ("layer_norm_epsilon", 1e-5),
    "initializer_range": ("initializer_range", 0.02),
}
_GPT_WRITTEN = {
    "tie_word_embeddings": True,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}

BERT = ModelType(
    name="bert",
    title="BERT",
    family="bert",
    config=ConfigTable(
        fields={
            "vocabulary_size": ("vocab_size", 30522),
            "num_layers": ("num_hidden_layers", 12),
            "num_heads": ("num_attention_heads", 12),
            "hidden_dim": ("hidden_size", 768),
            "intermediate_dim": ("intermediate_size", 3072),
            "dropout": ("hidden_dropout_prob", 0.1),
            "attention_dropout": ("attention_probs_dropout_prob", 0.1),
            "max_sequence_length": ("max_position_embeddings", 512),
            "num_segments": ("type_vocab_size", 2),
            "layer_norm_epsilon": ("layer_norm_eps", 1e-12),
            "initializer_range": ("initializer_range", 0.02),
        },
        activation_key="hidden_act",
        default_activation="gelu",
        activations=_ACTIVATIONS,
        activation_names={
            "gelu": "gelu",
            "gelu_approximate": "gelu_pytorch_tanh",
            "relu": "relu",
        },
        required=(
            ("position_embedding_type", "absolute", "has absolute positions only"),
            ("is_decoder", False, "is an encoder only"),
            ("add_cross_attention", False, "is an encoder only"),
        ),
        written={"position_embedding_type": "absolute", "pad_token_id": 0},
    ),
    prefix=bert_names.HUGGINGFACE_PREFIX,
    backbone_names=bert_names.HUGGINGFACE_BACKBONE,
    head_names=bert_names.HUGGINGFACE_HEADS,
    ignored=bert_names.IGNORED_BUFFERS,
    architectures=_BERT_ARCHITECTURES,
    read_architectures={task: frozenset({n}) for task, n in _BERT_ARCHITECTURES.items() if task},
    tied=(
        TiedTensor(f"{bert_names.DECODER}.weight", bert_names.TOKENS, needed_by="masked_lm/bias"),
        TiedTensor(
            f"{bert_names.DECODER}.bias", bert_names.OUTPUT_BIAS, needed_by="masked_lm/bias"
        ),
    ),
    optional_targets=bert_names.POOLER_TARGETS,
    architectures_without_optional=bert_names.ARCHITECTURES_WITHOUT_POOLER,
)

OPENAI_GPT = ModelType(
    name="openai-gpt",
    title="GPT-1",
    family="gpt",
    config=ConfigTable(
        fields={
            "vocabulary_size": ("vocab_size", 40478),
            "max_sequence_length": ("n_positions", 512),
            **_GPT_FIELDS,
        },
        activation_key="afn",
        default_activation="gelu",
        # The "gelu" of this model type is the tanh form (ACT_FNS in transformers' modeling_openai).
        activations={"gelu": "gelu_approximate", "relu": "relu"},
        activation_names={"gelu_approximate": "gelu", "relu": "relu"},
        fixed={"normalize_first": False},
        required=(_NO_CROSS_ATTENTION,),
        quadruple=True,
        dropout_keys=("embd_pdrop",),
        written=_GPT_WRITTEN,
    ),
    prefix=gpt_names.HUGGINGFACE_PREFIX,
    backbone_names=gpt_names.GPT1_BACKBONE,
    head_names=NameMap(()),
    ignored=gpt_names.IGNORED_BUFFERS,
    architectures={None: "OpenAIGPTModel", CAUSAL_LM: "OpenAIGPTLMHeadModel"},
    read_architectures={
        CAUSAL_LM: frozenset({"OpenAIGPTLMHeadModel", "OpenAIGPTDoubleHeadsModel"})
    },
    tied=(TiedTensor(gpt_names.OUTPUT_MATRIX, gpt_names.GPT1_TOKENS),),
)

GPT2 = ModelType(
    name="gpt2",
    title="GPT-2",
    family="gpt",
    config=ConfigTable(
        fields={
            "vocabulary_size": ("vocab_size", 50257),
            "max_sequence_length": ("n_positions", 1024),
            **_GPT_FIELDS,
        },
        activation_key="activation_function",
        default_activation="gelu_new",
        activations=_ACTIVATIONS,
        activation_names={"gelu": "gelu", "gelu_approximate": "gelu_new", "relu": "relu"},
        fixed={"normalize_first": True},
        required=(
            _NO_CROSS_ATTENTION,
            ("scale_attn_weights", True, "divides the attention scores by √head"),
            (
                "scale_attn_by_inverse_layer_idx",
                False,
                "does not scale the attention scores by the layer's number",
            ),
        ),
        quadruple=True,
        inner_key="n_inner",
        dropout_keys=("embd_pdrop",),
        written=_GPT_WRITTEN,
    ),
    prefix=gpt_names.HUGGINGFACE_PREFIX,
    backbone_names=gpt_names.GPT2_BACKBONE,
    head_names=NameMap(()),
    ignored=gpt_names.IGNORED_BUFFERS,
    architectures={None: "GPT2Model", CAUSAL_LM: "GPT2LMHeadModel"},
    read_architectures={CAUSAL_LM: frozenset({"GPT2LMHeadModel", "GPT2DoubleHeadsModel"})},
    tied=(TiedTensor(gpt_names.OUTPUT_MATRIX, gpt_names.GPT2_TOKENS),),
)

MODEL_TYPES = {model_type.name: model_type for model_type in (BERT, OPENAI_GPT, GPT2)}


def model_type_of(config: Mapping[str, Any], path: Path) -> ModelType:
    """Return the kind of model that a `config.json` describes.

    Args:
        config: its contents. Those from before transformers 2.3 do not say the type; the names of
            their fields tell.
        path: the file, for the error.

    Raises:
        ValueError: for a kind that kerazoo does not read.
    """
    if "model_type" not in config:
        return (OPENAI_GPT if "afn" in config else GPT2) if "n_embd" in config else BERT
    name = config["model_type"]
    if name not in MODEL_TYPES:
        raise ValueError(
            f"{path} describes another kind of model; kerazoo reads {', '.join(MODEL_TYPES)}. "
            f"Received: model_type={name!r}"
        )
    return MODEL_TYPES[name]


def model_type_to_write(family: str, fields: Mapping[str, Any]) -> ModelType:
    """Return the kind of Hugging Face model that a backbone is written as.

    Args:
        family: "bert" or "gpt".
        fields: the fields of its config dataclass.
    """
    return next(
        model_type
        for model_type in MODEL_TYPES.values()
        if model_type.family == family
        and all(fields[name] == value for name, value in model_type.config.fixed.items())
    )
