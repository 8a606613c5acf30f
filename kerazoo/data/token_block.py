"""A block of documents as tokens: one flat array, with the places where segments begin."""

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from kerazoo.data.document_blocks import Block
from kerazoo.data.segmenters import NONE, Segmenter, segment

_TEXTS_AT_ONCE = 2048


@dataclasses.dataclass(frozen=True)
class TokenBlock:
    """The tokens of a block of documents.

    Args:
        ids: (tokens,) int32, document after document.
        word_starts: (tokens,) bool; None if words are not asked for.
        segment_starts: (segments + 1,) int64, the first token of each segment, and the end.
        document_starts: (documents + 1,) int64, the first segment of each document, and the end.
        fallback_lines: int, lines that could not be segmented into words.
    """

    ids: np.ndarray
    word_starts: np.ndarray | None
    segment_starts: np.ndarray
    document_starts: np.ndarray
    fallback_lines: int = 0

    @property
    def documents(self) -> int:
        """The number of documents; one whose segments have no token is not counted."""
        return len(self.document_starts) - 1

    @property
    def segments(self) -> int:
        """The number of segments that have a token."""
        return len(self.segment_starts) - 1


def tokenize_segments(
    block: Block, tokenizer: Any, segmenter_name: str | None, segmenter: Segmenter | None
) -> TokenBlock:
    """Tokenise each segment, for masked language models.

    Args:
        block: documents.
        tokenizer: a `WordPieceTokenizer`.
        segmenter_name: name of the segmenter; None makes every Han character a word.
        segmenter: from `make_segmenter`.
    """
    texts = [text for document in block for text in document]
    ids, starts, lengths, failed = [], [], [], 0
    for portion in _portions(texts):
        if segmenter is not None:
            portion, portion_failed = segment(segmenter, portion)
            failed += portion_failed
        tokens = tokenizer.tokenize_with_word_starts(
            portion, segmented=segmenter is not None or segmenter_name == NONE
        )
        ids.append(tokens[0].flat_values.numpy())
        starts.append(tokens[1].flat_values.numpy())
        lengths.append(tokens[0].row_lengths().numpy())
    return _without_empty_ones(
        block, np.concatenate(ids), np.concatenate(starts), np.concatenate(lengths), failed
    )


def tokenize_documents(block: Block, tokenizer: Any) -> TokenBlock:
    """Tokenise each document as one text of lines, with the end token, for causal models.

    Args:
        block: documents.
        tokenizer: a byte-level or GPT-1 tokenizer; one without an end token adds none.
    """
    ids, lengths = [], []
    for portion in _portions(["\n".join(document) for document in block]):
        tokens = tokenizer.tokenize(portion)
        if tokenizer.end_token_id is not None:
            ends = tf.fill([tokens.nrows(), 1], tokenizer.end_token_id)
            tokens = tf.concat([tokens, ends], axis=1)
        ids.append(tokens.flat_values.numpy())
        lengths.append(tokens.row_lengths().numpy())
    documents = [[""] for _ in block]
    return _without_empty_ones(documents, np.concatenate(ids), None, np.concatenate(lengths), 0)


def _without_empty_ones(
    block: Block,
    ids: np.ndarray,
    word_starts: np.ndarray | None,
    lengths: np.ndarray,
    fallback_lines: int,
) -> TokenBlock:
    """Leave out segments without a token, and documents without a segment."""
    document_of = np.repeat(np.arange(len(block)), [len(document) for document in block])
    document_of, lengths = document_of[lengths > 0], lengths[lengths > 0]
    segments = np.unique(document_of, return_counts=True)[1]
    return TokenBlock(ids, word_starts, _starts(lengths), _starts(segments), fallback_lines)


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), _TEXTS_AT_ONCE):
        yield list(texts[start : start + _TEXTS_AT_ONCE])
