"""Where generated texts end."""

from collections.abc import Sequence

from keras import ops

from kerazoo.axes import Tensor


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
