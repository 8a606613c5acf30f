"""Texts as the rows that a backbone reads, with the characters that each position stands for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.analysis.analysed_model import AnalysedModel
from kerazoo.axes import PADDING_MASK, SEGMENT_IDS, TEXT, TEXT_PAIR, TOKEN_IDS
from kerazoo.preprocessing.packing import PackingTemplate, pack
from kerazoo.preprocessing.trimmed_offsets import trimmed_offsets
from kerazoo.tokenizers.texts import to_text_tensor

NO_CHARACTER = -1
"""The offset of a token that stands for no character: a special token, or padding."""

# Widths of batches are rounded up to a multiple, as JAX compiles each width anew.
_WIDTH_MULTIPLE = 16
_MARK = PackingTemplate(NO_CHARACTER, NO_CHARACTER, NO_CHARACTER, NO_CHARACTER)


@dataclass(frozen=True)
class PackedTexts:
    """Some texts, or pairs, as rows.

    Args:
        texts: each text, or pair of texts.
        features: `token_ids`, `segment_ids` and `padding_mask`, each (batch, seq) int32.
        starts: (batch, seq) int32, the first character of each token in its text, white space left
            out; -1 on special tokens and padding.
        ends: (batch, seq) int32, the character behind it, likewise.
        token_counts: (batch,) int32, tokens of each row before it was cut, special ones included.
        without_tokens: for each row which of its texts is the first without a token (a zero-width
            space has none): 0, 1, or None where each has one.
    """

    texts: list[tuple[str, ...]]
    features: dict[str, np.ndarray]
    starts: np.ndarray
    ends: np.ndarray
    token_counts: np.ndarray
    without_tokens: list[int | None]

    @property
    def lengths(self) -> np.ndarray:
        """Real tokens of each row, (batch,) int32."""
        return self.features[PADDING_MASK].sum(axis=1)

    def inputs_of(self, backbone: Any) -> dict[str, np.ndarray]:
        """Return those features that a backbone takes."""
        return {key: self.features[key] for key in backbone.input}

    def slices(self, row: int) -> list[str]:
        """Return what each token of a row stands for in its text, "" for special tokens."""
        texts, segments = self.texts[row], self.features[SEGMENT_IDS][row]
        places = zip(segments, self.starts[row], self.ends[row], strict=True)
        return [
            texts[segment][start:end] if start != NO_CHARACTER else ""
            for segment, start, end in list(places)[: self.lengths[row]]
        ]


def text_rows(texts: Any) -> list[tuple[str, ...]]:
    """Return texts, or pairs of them, one by one.

    Args:
        texts: a string, a list of strings, a pair `(list_a, list_b)`, or a dict
            `{"text": …, "text_pair": …}`.

    Raises:
        ValueError: if there is none, one is empty, or the parts of pairs are not of one length.
        TypeError: if one is no string, or there are no texts at all.
    """
    if isinstance(texts, (bytes, PurePath)) or not isinstance(texts, Iterable):
        raise TypeError(
            "Texts are a string, a list, a pair of lists, or a dict of them. "
            f"Received: texts={texts!r}"
        )
    if isinstance(texts, Mapping):
        if not {TEXT} <= set(texts) <= {TEXT, TEXT_PAIR}:
            raise ValueError(
                f"Texts come under the keys {TEXT!r} and, for pairs, {TEXT_PAIR!r}. "
                f"Received: keys={sorted(texts)}"
            )
        parts = [texts[key] for key in (TEXT, TEXT_PAIR) if key in texts]
    else:
        parts = list(texts) if isinstance(texts, tuple) else [texts]
    columns = [[part] if isinstance(part, str) else list(part) for part in parts]
    if not 1 <= len(columns) <= 2 or len({len(column) for column in columns}) > 1:
        raise ValueError(
            "Give texts, or pairs with as many second texts as first ones. "
            f"Received: lists of {', '.join(str(len(column)) for column in columns)} texts"
        )
    if not columns[0]:
        raise ValueError("Give at least one text. Received: texts=[]")
    rows = list(zip(*columns, strict=True))
    for number, row in enumerate(rows):
        _check_texts(row, number)
    return rows


def pack_texts(
    model: AnalysedModel, rows: Sequence[tuple[str, ...]], sequence_length: int
) -> PackedTexts:
    """Tokenise and pack some texts, or pairs.

    BERT reads `[CLS] a [SEP]` or `[CLS] a [SEP] b [SEP]`, GPT with task tokens `<s> a <e>` or
    `<s> a $ b <e>`, a language model the text alone.

    Args:
        model: the backbone and its tokenizer.
        rows: the texts, all of them single ones or all of them pairs.
        sequence_length: int, the most positions of a row; longer rows are cut.

    Raises:
        ValueError: for pairs on a language model.
    """
    with tf.device("cpu"):
        columns = [to_text_tensor(list(part)) for part in zip(*rows, strict=True)]
        found = [model.tokenizer.tokenize_with_offsets(part) for part in columns]
        ids = [part[0] for part in found]
        trimmed = [
            trimmed_offsets(texts, starts, ends)
            for texts, (_, starts, ends) in zip(columns, found, strict=True)
        ]
        starts = [part[0] for part in trimmed]
        ends = [tf.maximum(*part) for part in trimmed]
        without_tokens = _without_tokens(ids)
        template = _template(model)
        if template is None:
            parts = (ids, starts, ends)
            return _packed_alone(model, rows, parts, sequence_length, without_tokens)
        features = pack(ids, template, sequence_length, _WIDTH_MULTIPLE)
        first, last = (
            pack(offsets, _MARK, sequence_length, _WIDTH_MULTIPLE)[TOKEN_IDS].numpy()
            for offsets in (starts, ends)
        )
        counts = tf.add_n([part.row_lengths() for part in ids]) + len(ids) + 1
    features = {key: value.numpy() for key, value in features.items()}
    return PackedTexts(list(rows), features, first, last, counts.numpy(), without_tokens)


def _packed_alone(
    model: AnalysedModel,
    rows: Sequence[tuple[str, ...]],
    found: tuple[list[tf.RaggedTensor], ...],
    sequence_length: int,
    without_tokens: list[int | None],
) -> PackedTexts:
    """Return the rows of texts without special tokens."""
    if len(rows[0]) > 1:
        raise ValueError(
            "A language model reads single texts; a pair needs the tokens <s>, $ and <e>, which "
            "the tokenizer lacks. Give one text, or a model that was fine-tuned on pairs. "
            f"Received: tokenizer={type(model.tokenizer).__name__} without task tokens"
        )
    (ids,), (starts,), (ends,) = found
    counts = ids.row_lengths().numpy()
    longest = min(max(int(counts.max()), 1), sequence_length)
    width = min(-(-longest // _WIDTH_MULTIPLE) * _WIDTH_MULTIPLE, sequence_length)

    def dense(values: tf.RaggedTensor, padding: int) -> np.ndarray:
        return values[:, :width].to_tensor(padding, shape=(None, width)).numpy()

    token_ids = dense(ids, model.tokenizer.pad_token_id)
    mask = (np.arange(width) < np.minimum(counts, width)[:, np.newaxis]).astype("int32")
    features = {TOKEN_IDS: token_ids, SEGMENT_IDS: np.zeros_like(mask), PADDING_MASK: mask}
    offsets = dense(starts, NO_CHARACTER), dense(ends, NO_CHARACTER)
    return PackedTexts(list(rows), features, *offsets, counts, without_tokens)


def _without_tokens(ids: list[tf.RaggedTensor]) -> list[int | None]:
    lengths = zip(*(part.row_lengths().numpy() for part in ids), strict=True)
    return [next((part for part, length in enumerate(row) if not length), None) for row in lengths]


def _template(model: AnalysedModel) -> PackingTemplate | None:
    """Return the special tokens of a row; None for a language model, whose rows have none."""
    if getattr(model.tokenizer, "task_tokens", True) is False:
        return None
    return PackingTemplate.from_tokenizer(model.tokenizer)


def part_name(number: int, part: int) -> str:
    """Return what messages call a text, "text 3", or the second one of a pair.

    Args:
        number: int, which text or pair, from 0.
        part: int, which text of it, from 0.
    """
    return f"the {TEXT_PAIR} of text {number}" if part else f"text {number}"


def _check_texts(row: tuple[str, ...], number: int) -> None:
    for part, (key, text) in enumerate(zip((TEXT, TEXT_PAIR), row, strict=False)):
        name = part_name(number, part)
        name = name[0].upper() + name[1:]
        if not isinstance(text, str):
            raise TypeError(f"{name} is no string. Received: {key}={text!r}")
        if not text.strip():
            raise ValueError(f"{name} is empty. Give it a word. Received: {key}={text!r}")
