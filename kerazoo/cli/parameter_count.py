"""How many numbers a model has, from its config alone."""

from collections.abc import Mapping
from typing import Any

from kerazoo.checks import check_one_of


def parameter_count(
    family: str, config: Mapping[str, Any], num_classes: int = 0, masked_lm: bool = False
) -> int:
    """Return the number of weights of a backbone and of its heads.

    Args:
        family: "bert" or "gpt".
        config: the fields of the backbone's config dataclass.
        num_classes: int, classes of the head; 0 is no head, or the tied one of a language model.
        masked_lm: whether there is a head for masked words; its output matrix is tied.

    Raises:
        ValueError: for an unknown family.
    """
    counts = {"bert": bert_parameter_count, "gpt": gpt_parameter_count}
    check_one_of("family", family, counts)
    head = masked_lm_head_parameter_count(config) if masked_lm else 0
    return counts[family](config, num_classes) + head


def masked_lm_head_parameter_count(config: Mapping[str, Any]) -> int:
    """Return the number of weights of a masked-LM head without the token embedding.

    Args:
        config: the fields of the backbone's config dataclass.
    """
    hidden = config["hidden_dim"]
    dense, layer_norm = hidden * hidden + hidden, 2 * hidden
    return int(dense + layer_norm + config["vocabulary_size"])


def bert_parameter_count(config: Mapping[str, Any], num_classes: int = 0) -> int:
    """Return the number of weights of a BERT encoder, pooler included, and of its classifier.

    Args:
        config: the fields of `BertConfig`.
        num_classes: int, classes of the head; 0 is no head.
    """
    hidden = config["hidden_dim"]
    rows = config["vocabulary_size"] + config["max_sequence_length"] + config["num_segments"]
    embeddings = rows * hidden + 2 * hidden
    pooler = hidden * hidden + hidden
    return embeddings + _blocks(config) + pooler + _classifier(hidden, num_classes)


def gpt_parameter_count(config: Mapping[str, Any], num_classes: int = 0) -> int:
    """Return the number of weights of a GPT decoder, the tied matrix once, and of its classifier.

    Args:
        config: the fields of `GPTConfig`.
        num_classes: int, classes of the head; 0 is no head, or the tied one of a language model.
    """
    hidden = config["hidden_dim"]
    embeddings = (config["vocabulary_size"] + config["max_sequence_length"]) * hidden
    last_norm = 2 * hidden if config["normalize_first"] else 0
    return embeddings + _blocks(config) + last_norm + _classifier(hidden, num_classes)


def _blocks(config: Mapping[str, Any]) -> int:
    hidden, inner = config["hidden_dim"], config["intermediate_dim"]
    attention = 4 * (hidden * hidden + hidden)
    feed_forward = 2 * hidden * inner + inner + hidden
    layer_norms = 2 * 2 * hidden
    return config["num_layers"] * (attention + feed_forward + layer_norms)


def _classifier(hidden: int, num_classes: int) -> int:
    return num_classes * (hidden + 1)
