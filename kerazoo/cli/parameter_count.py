"""How many numbers a model has, from its config alone."""

from collections.abc import Mapping
from typing import Any


def bert_parameter_count(config: Mapping[str, Any], num_classes: int = 0) -> int:
    """Return the number of weights of a BERT encoder, pooler included, and of its classifier.

    Args:
        config: the fields of `BertConfig`.
        num_classes: int, classes of the head; 0 is no head.
    """
    hidden, inner = config["hidden_dim"], config["intermediate_dim"]
    norm = 2 * hidden
    rows = config["vocabulary_size"] + config["max_sequence_length"] + config["num_segments"]
    embeddings = rows * hidden + norm
    attention = 4 * (hidden * hidden + hidden) + norm
    feed_forward = 2 * hidden * inner + inner + hidden + norm
    pooler = hidden * hidden + hidden
    head = num_classes * (hidden + 1)
    return embeddings + config["num_layers"] * (attention + feed_forward) + pooler + head
