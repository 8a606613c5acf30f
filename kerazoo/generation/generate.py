"""From prompts to texts: everything round the compiled generation of one batch."""

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, TOKEN_IDS
from kerazoo.checks import check_positive
from kerazoo.generation.ready_prompts import ready_prompts
from kerazoo.preprocessing.causal_lm import check_prompts, padded

PROMPT_IDS = "prompt_ids"
"""The first columns of `token_ids`, which are read at once, (batch, width) int32."""

TEXT_LENGTHS = "text_lengths"
"""How many tokens prompt and continuation of each row have at most, (batch,) int32."""

MULTIPLE = 16
"""Lengths are rounded up to a multiple of this, so that few shapes are compiled."""

Rows = list[list[int]]


@dataclasses.dataclass(frozen=True)
class Request:
    """What is asked of `CausalLM.generate`; see there.

    Args:
        max_length: int, tokens of prompt and continuation; None is the preprocessor's.
        max_new_tokens: int, tokens of a continuation; None leaves it to `max_length`.
        stop_token_ids: ids that end a text; None never stops.
        strip_prompt: bool, return continuations only.
        sliding_window: bool, go on past the context limit.
    """

    max_length: int | None = None
    max_new_tokens: int | None = None
    stop_token_ids: tuple[int, ...] | None = None
    strip_prompt: bool = False
    sliding_window: bool = False

    def __post_init__(self) -> None:
        """Check the lengths."""
        for name in ("max_length", "max_new_tokens"):
            value = getattr(self, name)
            if isinstance(value, np.integer):
                value = int(value)
            if value is not None:
                check_positive(name, value)
                if not isinstance(value, int):
                    raise ValueError(f"`{name}` must be a whole number. Received: {name}={value!r}")
        if self.max_length is not None and self.max_new_tokens is not None:
            raise ValueError(
                "Give `max_length` (prompt and continuation together) or `max_new_tokens` (the "
                "continuation alone), not both. "
                f"Received: max_length={self.max_length}, max_new_tokens={self.max_new_tokens}"
            )


def generate_rows(task: Any, inputs: Any, request: Request) -> Any:
    """Continue the prompts of one call; see `CausalLM.generate`."""
    if task.preprocessor is None:
        return _generate_ready(task, inputs, request)
    if isinstance(inputs, tf.data.Dataset):
        batches = inputs.as_numpy_iterator()
        return [text for batch in batches for text in _generate_texts(task, batch, request)]
    if isinstance(inputs, (str, bytes)) or getattr(inputs, "shape", None) == ():
        return _generate_texts(task, inputs, request)[0]
    return _generate_texts(task, inputs, request)


def generate_ids(task: Any, prompts: Rows, request: Request) -> Rows:
    """Continue prompts given as ids.

    Args:
        task: a `CausalLM`.
        prompts: the ids of each prompt, at least one.
        request: what is asked.

    Returns:
        The ids of each prompt and its continuation, the stop token included.

    Raises:
        ValueError: if a prompt is empty or too long, or the length is past the context limit.
    """
    limit = task.backbone.config.max_sequence_length
    targets = _targets(prompts, request, _default_length(task, limit))
    if request.sliding_window:
        check_prompts(prompts, targets)
    else:
        check_fits(prompts, targets, limit)
    rows = [list(prompt) for prompt in prompts]
    open_rows = [number for number, row in enumerate(rows) if len(row) < targets[number]]
    while open_rows:
        _continue_window(task, rows, open_rows, targets, request, limit)
        open_rows = [
            number
            for number in open_rows
            if len(rows[number]) < targets[number]
            and not _has_stopped(rows[number][len(prompts[number]) :], request)
        ]
    return rows


def check_fits(prompts: Rows, targets: Sequence[int], limit: int) -> None:
    """Raise ValueError unless every prompt can be continued within the context of the model.

    Args:
        prompts: the ids of each prompt.
        targets: for each how many tokens it and its continuation may have.
        limit: int, positions of the model.
    """
    check_prompts(prompts, targets)
    for number, (prompt, target) in enumerate(zip(prompts, targets, strict=True)):
        if target > limit:
            raise ValueError(
                f"The model has {limit} positions, and prompt and continuation would need more. "
                "Ask for fewer tokens, or let the window slide (`sliding_window=True`, at the "
                "shell --sliding-window). "
                f"Received: {target} tokens, {len(prompt)} of them in prompt {number}"
            )


def _continue_window(
    task: Any,
    rows: Rows,
    open_rows: Sequence[int],
    targets: Sequence[int],
    request: Request,
    limit: int,
) -> None:
    """Append to the open rows what fits into one window of the context."""
    # A text that fills the context is read anew from its second half.
    windows = [_window(rows[number], limit) for number in open_rows]
    wanted = [
        min(limit, len(window) + targets[number] - len(rows[number]))
        for window, number in zip(windows, open_rows, strict=True)
    ]
    outputs = _run(task, windows, wanted, request.stop_token_ids, limit)
    for number, window, length, output in zip(open_rows, windows, wanted, outputs, strict=True):
        rows[number].extend(output[len(window) : length])


def _window(row: list[int], limit: int) -> list[int]:
    return row if len(row) < limit else row[-(limit // 2) :]


def _run(
    task: Any,
    prompts: Rows,
    lengths: Sequence[int],
    stop_token_ids: tuple[int, ...] | None,
    limit: int,
) -> Rows:
    """Run the compiled function on one batch; return rows up to their stop token, or wider."""
    width = min(limit, _rounded(max(lengths)))
    shortest = min(map(len, prompts))
    # What stands on padding is never read: its slots are written before they are seen. Only a stop
    # token must not stand there, since every position behind the prompt is searched for one.
    filler = next(number for number in itertools.count() if number not in (stop_token_ids or ()))
    token_ids, padding_mask = padded(prompts, width, pad_token_id=filler)
    inputs = {
        TOKEN_IDS: token_ids,
        PADDING_MASK: padding_mask,
        PROMPT_IDS: token_ids[:, : min(width, _rounded(shortest))],
        TEXT_LENGTHS: np.array(lengths, "int32"),
    }
    inputs = {key: keras.ops.convert_to_tensor(value) for key, value in inputs.items()}
    outputs = task.make_generate_function()(inputs, stop_token_ids=stop_token_ids)
    token_ids = keras.ops.convert_to_numpy(outputs[TOKEN_IDS])
    counts = keras.ops.convert_to_numpy(outputs[PADDING_MASK]).astype(bool).sum(axis=1)
    return [row[:count].tolist() for row, count in zip(token_ids, counts, strict=True)]


def _generate_texts(task: Any, prompts: Any, request: Request) -> list[str]:
    rows = task.preprocessor.prompt_ids(prompts)
    if not rows:
        return []
    outputs = generate_ids(task, rows, request)
    if request.strip_prompt:
        outputs = [out[len(row) :] for out, row in zip(outputs, rows, strict=True)]
    return task.preprocessor.texts(outputs)


def _generate_ready(task: Any, inputs: Any, request: Request) -> dict[str, np.ndarray]:
    """Continue ready inputs up to their own width."""
    prompts, width = ready_prompts(inputs, task.backbone.config.vocabulary_size)
    if request.max_new_tokens is None:
        request = dataclasses.replace(request, max_length=request.max_length or width)
    rows = generate_ids(task, prompts, request) if prompts else []
    width = max([width, *map(len, rows)])
    token_ids, padding_mask = padded(rows, width, pad_token_id=0)
    return {TOKEN_IDS: token_ids, PADDING_MASK: padding_mask}


def _targets(prompts: Rows, request: Request, default: int) -> list[int]:
    """Return for each prompt how many tokens it and its continuation may have."""
    if request.max_new_tokens is not None:
        return [len(prompt) + request.max_new_tokens for prompt in prompts]
    return [request.max_length or default] * len(prompts)


def _default_length(task: Any, limit: int) -> int:
    if task.preprocessor is None:
        return limit
    return min(limit, task.preprocessor.sequence_length)


def _has_stopped(continuation: Sequence[int], request: Request) -> bool:
    return any(token in (request.stop_token_ids or ()) for token in continuation)


def _rounded(length: int) -> int:
    return -(-length // MULTIPLE) * MULTIPLE
