"""Where generated texts end."""

from collections.abc import Iterable, Sequence
from typing import Any

from keras import ops

from kerazoo.axes import Tensor
from kerazoo.checks import is_whole_number


def new_stop_tokens(
    token_ids: Tensor, prompt_mask: Tensor, stop_token_ids: Sequence[int] | None
) -> Tensor:
    """Return where stop tokens stand behind the prompts, (rows, seq) bool.

    Args:
        token_ids: (rows, seq) int32.
        prompt_mask: (rows, seq) bool, True on prompts, whose tokens stop nothing.
        stop_token_ids: ids that end a text; None is none.
    """
    if stop_token_ids is None:
        return ops.zeros_like(token_ids, dtype="bool")
    stop_token_ids = ops.array(list(stop_token_ids), dtype=token_ids.dtype)
    is_stop = ops.any(token_ids[:, :, None] == stop_token_ids, axis=-1)
    return ops.logical_and(is_stop, ops.logical_not(prompt_mask))


def checked_stop_token_ids(stop_token_ids: Any, vocabulary_size: int) -> tuple[int, ...] | None:
    """Return the ids as whole numbers; None for none.

    Args:
        stop_token_ids: a list of ids, or None.
        vocabulary_size: int, tokens of the model.

    Raises:
        ValueError: if it is no list, or something in it is no token.
    """
    if stop_token_ids is None:
        return None
    is_list = isinstance(stop_token_ids, Iterable) and not isinstance(stop_token_ids, (str, bytes))
    ids = list(stop_token_ids) if is_list else []
    are_tokens = all(is_whole_number(n) and 0 <= n < vocabulary_size for n in ids)
    if not is_list or not are_tokens:
        raise ValueError(
            f"`stop_token_ids` is a list of ids from 0 to {vocabulary_size - 1}, None or 'auto'. "
            f"Received: stop_token_ids={stop_token_ids!r}"
        )
    return tuple(int(number) for number in ids) or None
