"""The records of a block of documents: what one unit of work makes, wherever it is done."""

import dataclasses
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import numpy as np

from kerazoo.data.document_blocks import Block
from kerazoo.data.full_sentences import Ranges, full_sentence_rows
from kerazoo.data.manifest import TokenizerDescription, row_format
from kerazoo.data.next_sentence import sentence_pairs
from kerazoo.data.objectives import BERT, GPT
from kerazoo.data.packed_texts import lines_as_documents, packed_continuations, packed_texts
from kerazoo.data.prepare_settings import LINES, PrepareSettings
from kerazoo.data.segmenters import make_segmenter
from kerazoo.data.shard import Counts
from kerazoo.data.static_masks import StaticMasks
from kerazoo.data.token_block import TokenBlock, tokenize_documents, tokenize_segments


@dataclasses.dataclass(frozen=True)
class _Row:
    """A row before it is written: the words of its tokens and where the second text begins."""

    words: np.ndarray
    second_start: int | None = None
    label: int = 0


class RowRecords:
    """Turns blocks of documents into records.

    What comes out depends on the block, its number and the settings alone.

    Args:
        tokenizer: a kerazoo tokenizer: WordPiece for "bert" and "bert-mlm", BPE for "gpt".
        settings: see `PrepareSettings`.

    Raises:
        ModuleNotFoundError: if the segmenter is not installed.
        ValueError: if the tokenizer does not fit the objective.
    """

    def __init__(self, tokenizer: Any, settings: PrepareSettings) -> None:
        """Load the segmenter."""
        check_tokenizer(tokenizer, settings)
        self._tokenizer = tokenizer
        self._settings = settings
        self._format = row_format(settings, TokenizerDescription.of(tokenizer))
        self._segmenter = make_segmenter(settings.segmenter, settings.segmenter_model)
        self._static_masks = StaticMasks(tokenizer, settings) if settings.static_masks else None

    def of_block(self, block: Block, number: int) -> tuple[list[bytes], Counts]:
        """Return the records of a block and what they hold.

        Args:
            block: documents.
            number: int, the block's number in the corpus, which seeds what is drawn.

        Raises:
            ValueError: if pairs are asked for and the block has a single document.
        """
        tokens = self._tokenized(block)
        records, random_next, length = [], 0, 0
        for copy in range(max(1, self._settings.static_masks)):
            random = Random(f"{self._settings.seed} {number} {copy}")
            for row in self._rows(tokens, random):
                records.append(self._record(row, random))
                random_next += row.label
                length += len(row.words)
        return records, Counts(
            documents=tokens.documents,
            segments=tokens.segments,
            rows=len(records),
            tokens=length,
            random_next=random_next,
            fallback_lines=tokens.fallback_lines,
            replaced_lines=sum("\ufffd" in text for document in block for text in document),
        )

    def _tokenized(self, block: Block) -> TokenBlock:
        if self._settings.objective == GPT:
            if self._settings.packing == LINES:
                block = lines_as_documents(block)
            return tokenize_documents(block, self._tokenizer)
        return tokenize_segments(block, self._tokenizer, self._settings.segmenter, self._segmenter)

    def _rows(self, tokens: TokenBlock, random: Random) -> Iterator[_Row]:
        words = self._format.token_words(tokens.ids, tokens.word_starts)
        settings = self._settings
        if settings.packing is not None:
            for texts in self._packed(tokens):
                yield _Row(np.concatenate([self._text(words, text) for text in texts]))
        elif settings.objective == GPT:
            # A row begins with the last target of the row before it.
            for start in range(0, len(words) - 1, settings.sequence_length):
                yield _Row(words[start : start + settings.row_length])
        elif settings.objective == BERT:
            rate = settings.short_sequence_rate
            for pair in sentence_pairs(tokens, settings.text_length, rate, random):
                ranges = [pair[0:2], pair[2:4]]
                second_start = 2 + pair.first_end - pair.first_start
                yield _Row(self._joined(words, ranges), second_start, pair.label)
        else:
            for ranges in full_sentence_rows(tokens, settings.text_length):
                yield _Row(self._joined(words, ranges))

    def _packed(self, tokens: TokenBlock) -> Iterator[Ranges]:
        settings = self._settings
        if settings.objective == GPT:
            return packed_continuations(tokens, settings.row_length)
        longest = settings.text_length
        return packed_texts(tokens, longest, settings.row_length - longest, settings.packing or "")

    def _text(self, words: np.ndarray, text: tuple[int, int]) -> np.ndarray:
        """Return the words of one text of a packed row."""
        if self._settings.objective == GPT:
            return words[slice(*text)]
        return self._joined(words, [text])

    def _joined(self, words: np.ndarray, ranges: Sequence[tuple[int, ...]]) -> np.ndarray:
        """Return [CLS] text [SEP] text [SEP] …; what is left of a cut word is a word."""
        start, separator, end, _ = self._tokenizer.template_token_ids
        row = np.empty(1 + sum(b - a + 1 for a, b in ranges), words.dtype)
        row[0] = start
        position = 1
        for a, b in ranges:
            row[position : position + b - a] = words[a:b]
            row[position] |= self._format.word_start_bit
            position += b - a + 1
            row[position - 1] = separator
        row[-1] = end
        return row

    def _record(self, row: _Row, random: Random) -> bytes:
        if self._static_masks is None:
            return self._format.encode(row.words, row.second_start, row.label)
        bit = self._format.word_start_bit
        starts = row.words & bit
        ids, positions, mask_ids = self._static_masks.mask(row.words ^ starts, starts > 0, random)
        words = ids.astype(row.words.dtype) | starts
        return self._format.encode(words, row.second_start, row.label, positions, mask_ids)


def check_tokenizer(tokenizer: Any, settings: PrepareSettings) -> None:
    """Raise ValueError unless a tokenizer fits the objective and the segmenter."""
    is_wordpiece = hasattr(tokenizer, "tokenize_with_word_starts")
    if (settings.objective != GPT) != is_wordpiece:
        wanted = "a byte-level or GPT-1 BPE" if is_wordpiece else "a WordPiece"
        raise ValueError(
            f"The objective needs {wanted} vocabulary. "
            f"Received: objective={settings.objective!r}, tokenizer={type(tokenizer).__name__}"
        )
    if settings.packing is not None and not is_wordpiece and tokenizer.end_token_id is None:
        raise ValueError(
            "The texts of a packed row are told apart by the end token, and this tokenizer has "
            f"none. Leave the setting out. Received: packing={settings.packing!r}, "
            f"tokenizer={type(tokenizer).__name__}"
        )
    if settings.segmenter is not None and not tokenizer.split_on_cjk:
        raise ValueError(
            "Spaces between Chinese words would change this tokenizer's ids, as it does not cut "
            "at every Han character. Leave the segmenter out, or set split_on_cjk=True. "
            f"Received: segmenter={settings.segmenter!r}"
        )
