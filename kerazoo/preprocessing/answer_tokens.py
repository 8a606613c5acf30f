"""Which tokens of a window an answer covers, from its characters in the passage."""

from collections.abc import Callable

import tensorflow as tf

from kerazoo.preprocessing.passage_windows import PassageWindows
from kerazoo.tokenizers.token_rows import row_of_each_token


def answer_positions(
    passages: PassageWindows, answer_start: tf.Tensor, answer_end: tf.Tensor
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return the positions of the first and the last token of the answers.

    A token belongs to an answer if they share a character. A window that does not hold all of the
    answer's tokens points to its position for "no answer".

    Args:
        passages: the packed questions.
        answer_start: (questions,) int32, the answer's first character; -1 if there is no answer.
        answer_end: (questions,) int32, the character behind it.

    Returns:
        Two tensors, (windows,) int32.
    """
    windows = passages.windows
    before = _count(passages.ends, answer_start, lambda ends, start: ends <= start)
    until = _count(passages.starts, answer_end, lambda starts, end: starts < end)
    first, last = (
        tf.gather(values, windows.document) - windows.first for values in (before, until - 1)
    )
    has_answer = tf.gather(answer_start, windows.document) >= 0
    is_here = has_answer & (first >= 0) & (first <= last) & (last < windows.length)
    return (
        tf.where(is_here, passages.begin + first, passages.null_position),
        tf.where(is_here, passages.begin + last, passages.null_position),
    )


def check_answers(context: tf.Tensor, answer: tf.Tensor, answer_start: tf.Tensor) -> tf.Operation:
    """Return an assertion: each answer is the slice of its passage that begins at its start.

    Args:
        context: (questions,) string, valid UTF-8.
        answer: (questions,) string.
        answer_start: (questions,) int32, -1 if there is no answer.
    """
    length = tf.strings.length(context, unit="UTF8_CHAR")
    begin = tf.clip_by_value(answer_start, 0, length)
    size = tf.strings.length(answer, unit="UTF8_CHAR")
    found = tf.strings.substr(context, begin, size, unit="UTF8_CHAR")
    wrong = (answer_start >= 0) & ((found != answer) | (size == 0))
    message = (
        "An answer must be the slice of its context that begins at `answer_start`, counted in "
        "characters; -1 stands for no answer. Received: answer, slice and answer_start="
    )
    rows = [tf.boolean_mask(values, wrong) for values in (answer, found, answer_start)]
    return tf.debugging.Assert(~tf.reduce_any(wrong), [message, *rows])


def _count(
    values: tf.RaggedTensor,
    limit: tf.Tensor,
    is_counted: Callable[[tf.Tensor, tf.Tensor], tf.Tensor],
) -> tf.Tensor:
    """Return how many values of each row stand in a relation to the row's limit, (rows,) int32."""
    limits = tf.gather(limit, row_of_each_token(values))
    flags = values.with_flat_values(tf.cast(is_counted(values.flat_values, limits), tf.int32))
    return tf.reduce_sum(flags, axis=1)
