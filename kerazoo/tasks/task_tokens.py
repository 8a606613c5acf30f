"""Room in a backbone for the special tokens that GPT gets in fine-tuning."""

from typing import Any

from kerazoo.backbones.resize_vocabulary import resize_vocabulary

TASK_TOKEN_COUNT = 3
"""`<s>`, `$` and `<e>`, the last ids of a tokenizer with task tokens."""


def lacks_task_token_rows(backbone: Any, tokenizer: Any) -> bool:
    """Return whether a backbone has embeddings for a tokenizer's texts, but not for task tokens.

    Args:
        backbone: the backbone; one without `config.vocabulary_size` lacks nothing.
        tokenizer: the tokenizer; one without task tokens needs nothing.
    """
    rows = getattr(getattr(backbone, "config", None), "vocabulary_size", None)
    if rows is None or not getattr(tokenizer, "task_tokens", False) or not tokenizer.has_vocabulary:
        return False
    return tokenizer.vocabulary_size() - TASK_TOKEN_COUNT <= rows < tokenizer.vocabulary_size()


def with_task_token_rows(backbone: Any, tokenizer: Any) -> Any:
    """Return the backbone with new embeddings for the task tokens, or as it is if it needs none."""
    if not lacks_task_token_rows(backbone, tokenizer):
        return backbone
    return resize_vocabulary(backbone, tokenizer.vocabulary_size())
