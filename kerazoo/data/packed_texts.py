"""Short texts side by side in rows of one length, so that hardly a position is padding.

Which texts share a row is decided for each block of documents alone. It matters little, as they do
not see each other: attention stays within a text (Krell et al. 2021,
https://arxiv.org/abs/2107.02027).
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from kerazoo.data.document_blocks import Block
from kerazoo.data.full_sentences import Ranges
from kerazoo.data.prepare_settings import LINES
from kerazoo.data.token_block import TokenBlock


def packed_texts(
    block: TokenBlock, longest: int, special_tokens: int, packing: str
) -> Iterator[Ranges]:
    """Yield the rows of a block for masked language models, the texts of each.

    A document that is longer than a row is cut between segments, a segment that is longer than a
    row anywhere.

    Args:
        block: documents.
        longest: int, the most tokens of a text.
        special_tokens: int, tokens that stand around each text.
        packing: "documents" or "lines".
    """
    texts = list(_texts(block, longest, packing))
    lengths = [end - begin + special_tokens for begin, end in texts]
    for row in fill_rows(lengths, longest + special_tokens):
        yield [texts[number] for number in row]


def packed_continuations(block: TokenBlock, row_length: int) -> Iterator[Ranges]:
    """Yield the rows of a block for causal language models, the texts of each.

    A text that is longer than a row goes on in another one, which begins with the last target of
    the one before it. What has no target is left out.

    Args:
        block: one segment a text, with the end token behind it.
        row_length: int, the most tokens of a row, the last target included.
    """
    texts = [
        (first, min(first + row_length, end))
        for begin, end in pairwise(block.segment_starts.tolist())
        for first in range(begin, end - 1, row_length - 1)
    ]
    for row in fill_rows([end - begin for begin, end in texts], row_length):
        yield [texts[number] for number in row]


def lines_as_documents(block: Block) -> Block:
    """Return the lines of documents as documents of one line."""
    return [[line] for document in block for line in document]


def fill_rows(lengths: Sequence[int], row_length: int) -> list[list[int]]:
    """Return the texts of each row: best fit, the longest texts first.

    Args:
        lengths: tokens of each text, at most `row_length`.
        row_length: int, tokens of a row.
    """
    rows: list[list[int]] = []
    rows_with_room: dict[int, list[int]] = defaultdict(list)
    rooms = 0  # bit n is set if a row has room for n tokens: the smallest that fits is one look
    for text in sorted(range(len(lengths)), key=lambda number: -lengths[number]):
        length = lengths[text]
        fitting = rooms >> length << length
        if fitting:
            room = (fitting & -fitting).bit_length() - 1
            row = rows_with_room[room].pop()
            if not rows_with_room[room]:
                rooms ^= 1 << room
        else:
            room, row = row_length, len(rows)
            rows.append([])
        rows[row].append(text)
        rows_with_room[room - length].append(row)
        rooms |= 1 << room - length
    return rows


def _texts(block: TokenBlock, longest: int, packing: str) -> Iterator[tuple[int, int]]:
    """Yield the first token of each text and the one behind it."""
    tokens, documents = block.segment_starts.tolist(), block.document_starts.tolist()
    if packing == LINES:
        documents = list(range(len(tokens)))
    for first, last in pairwise(documents):
        begin = tokens[first]
        for start, end in pairwise(tokens[first : last + 1]):
            if end - begin > longest and begin < start:
                yield begin, start
                begin = start
            while end - begin > longest:
                yield begin, begin + longest
                begin += longest
        yield begin, tokens[last]
