"""Questions with the windows of their passages, packed for a backbone."""

import dataclasses
from typing import Any

import tensorflow as tf

from kerazoo.axes import ANSWER_MASK, PADDING_MASK
from kerazoo.preprocessing.packing import PackingTemplate, Part, check_room, pack_parts
from kerazoo.preprocessing.trimmed_offsets import trimmed_offsets
from kerazoo.preprocessing.windows import Windows, check_stride, windows_of
from kerazoo.tokenizers.texts import to_text_tensor

SPECIALS = 3
"""Special tokens of a row: before the question, behind it, and behind the passage."""

DEFAULT_STRIDE = 128
"""That of Google's run_squad.py, where windows are long enough."""


@dataclasses.dataclass(frozen=True)
class PassageWindows:
    """The rows of some questions: each question in front of each window of its passage.

    Args:
        contexts: (questions,) string, the passages, valid UTF-8.
        features: `token_ids`, `segment_ids`, `padding_mask` and `answer_mask`, each (windows, seq)
            int32.
        windows: which tokens of which passage stand in each row.
        begin: (windows,) int32, the position of the first of them.
        null_position: (windows,) int32, the position that stands for "no answer".
        starts: (questions, tokens) int32, the character at which each token of a passage begins,
            white space left out.
        ends: (questions, tokens) int32, the character behind it; not behind the start for a token
            of white space alone.
        fits: (questions,) bool, False for a question that leaves no room for its passage; it is cut
            to the first tokens.
    """

    contexts: tf.Tensor
    features: dict[str, tf.Tensor]
    windows: Windows
    begin: tf.Tensor
    null_position: tf.Tensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor
    fits: tf.Tensor


def passage_windows(
    tokenizer: Any,
    question: Any,
    context: Any,
    sequence_length: int,
    stride: int | None = None,
    null_at_end: bool = False,
    pad_to_multiple_of: int | None = None,
) -> PassageWindows:
    """Tokenise and pack questions and passages; of a long passage every window is a row.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        question: (questions,) string.
        context: (questions,) string, the passage of each.
        sequence_length: int, the most positions of a row.
        stride: int, how many tokens after a window the next one begins; a row whose question leaves
            less room takes all of that. None is 128, or half of the room if that is less.
        null_at_end: bool, let the last token stand for "no answer", not the first.
        pad_to_multiple_of: as for `kerazoo.preprocessing.packing.pack`.

    Raises:
        ValueError: if the stride leaves gaps whatever the question, or rows have no room.
    """
    check_room(sequence_length, SPECIALS + 1)
    most = sequence_length - SPECIALS - 1
    if stride is not None:
        check_stride(stride, most)
    question, context = to_text_tensor(question), to_text_tensor(context)
    questions = tokenizer.tokenize(question)
    # Several questions are about one passage; it is read once.
    distinct, index = tf.unique(context)
    ids, starts, ends = tokenizer.tokenize_with_offsets(distinct)
    starts, ends = trimmed_offsets(distinct, starts, ends)
    ids, starts, ends = (tf.gather(values, index) for values in (ids, starts, ends))
    asked = tf.cast(questions.row_lengths(), tf.int32)
    fits = asked <= most
    asked = tf.minimum(asked, most)
    room = sequence_length - SPECIALS - asked
    step = tf.minimum(DEFAULT_STRIDE, (room + 1) // 2) if stride is None else stride
    windows = windows_of(ids.row_lengths(), room, tf.minimum(step, room))
    parts = [_questions_of(questions, windows), windows.part(ids, segment=1)]
    kept = [tf.gather(asked, windows.document), windows.length]
    template = PackingTemplate.from_tokenizer(tokenizer)
    features = pack_parts(parts, kept, template, sequence_length, pad_to_multiple_of)
    begin = kept[0] + SPECIALS - 1
    last = begin + windows.length
    null_position = last if null_at_end else tf.zeros_like(last)
    features[ANSWER_MASK] = _answer_mask(features[PADDING_MASK], begin, last, null_position)
    return PassageWindows(context, features, windows, begin, null_position, starts, ends, fits)


def _questions_of(questions: tf.RaggedTensor, windows: Windows) -> Part:
    """Return the question of each window; the ids are not copied."""
    part = Part.from_ragged(questions)
    rows = {
        name: tf.gather(getattr(part, name), windows.document)
        for name in ("starts", "lengths", "closed")
    }
    return dataclasses.replace(part, **rows)


def _answer_mask(
    padding_mask: tf.Tensor, begin: tf.Tensor, last: tf.Tensor, null_position: tf.Tensor
) -> tf.Tensor:
    """Return 1 on the passage and on the position for "no answer", (windows, seq) int32."""
    begin, last, null = (values[:, tf.newaxis] for values in (begin, last, null_position))
    positions = tf.range(tf.shape(padding_mask)[1])[tf.newaxis, :]
    allowed = ((positions >= begin) & (positions < last)) | (positions == null)
    mask = tf.cast(allowed, tf.int32)
    mask.set_shape(padding_mask.shape)
    return mask
