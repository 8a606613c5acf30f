"""Whether a preprocessor suits a backbone."""

from typing import Any

import keras

from kerazoo.tasks.task_tokens import lacks_task_token_rows


def check_preprocessor(preprocessor: Any, backbone: keras.Model) -> None:
    """Check rows, special tokens and vocabulary for a task with a head on the backbone.

    Args:
        preprocessor: a kerazoo preprocessor with `sequence_length`.
        backbone: the backbone that is to read its rows.

    Raises:
        ValueError: if the rows are longer than the backbone reads, the tokenizer lacks the special
            tokens of fine-tuning, or it has more tokens than the backbone has embeddings.
    """
    check_row_length(preprocessor, backbone)
    tokenizer = preprocessor.tokenizer
    if getattr(tokenizer, "task_tokens", True) is False:
        raise ValueError(
            "Fine-tuning needs tokens for start, separator and end, which this tokenizer lacks: "
            "use `tokenizer.with_task_tokens()` and "
            "`kerazoo.backbones.resize_vocabulary.resize_vocabulary(backbone, rows)`, or "
            "`from_preset`, which does both. Received: task_tokens=False"
        )
    if lacks_task_token_rows(backbone, tokenizer):
        raise ValueError(
            "The backbone has no embeddings for the tokenizer's special tokens: use "
            "`kerazoo.backbones.resize_vocabulary.resize_vocabulary(backbone, "
            f"{tokenizer.vocabulary_size()})`. "
            f"Received: {_config(backbone).vocabulary_size} embeddings"
        )
    check_vocabulary_size(preprocessor, backbone)


def check_row_length(preprocessor: Any, backbone: keras.Model) -> None:
    """Raise ValueError if the preprocessor's rows are longer than the backbone reads."""
    limit = getattr(_config(backbone), "max_sequence_length", None)
    if limit is not None and preprocessor.sequence_length > limit:
        raise ValueError(
            f"The backbone reads at most {limit} positions; make the preprocessor's rows shorter. "
            f"Received: sequence_length={preprocessor.sequence_length}"
        )


def check_vocabulary_size(preprocessor: Any, backbone: keras.Model) -> None:
    """Raise ValueError if the tokenizer has more tokens than the backbone has embeddings."""
    tokenizer = preprocessor.tokenizer
    rows = getattr(_config(backbone), "vocabulary_size", None)
    if rows and tokenizer.has_vocabulary and tokenizer.vocabulary_size() > rows:
        raise ValueError(
            f"The tokenizer has more tokens than the backbone has embeddings ({rows}); they belong "
            f"to different models. Received: vocabulary_size={tokenizer.vocabulary_size()}"
        )


def _config(backbone: keras.Model) -> Any:
    return getattr(backbone, "config", None)
