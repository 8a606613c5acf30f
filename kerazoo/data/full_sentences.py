"""Rows of full sentences, without pairs (RoBERTa's FULL-SENTENCES; Liu et al., 2019, 4.2)."""

from collections.abc import Iterator

from kerazoo.data.token_block import TokenBlock

Ranges = list[tuple[int, int]]
"""First and last token (not included) of each text of a row."""


def full_sentence_rows(block: TokenBlock, longest: int) -> Iterator[Ranges]:
    """Yield the rows of a block: as many whole segments as fit, over the ends of documents.

    Where one document ends and the next one begins within a row, a separator stands between them,
    which counts as a token. A segment that is longer than a row is cut into rows, so that no token
    is lost.

    Args:
        block: documents.
        longest: int, the most tokens of a row, special tokens at its ends not counted.
    """
    row: Ranges = []
    used = 0
    for begin, end, is_new in _pieces(block, longest):
        separator = 1 if row and is_new else 0
        if row and used + separator + end - begin > longest:
            yield row
            row, used, separator = [], 0, 0
        if row and not is_new:
            row[-1] = (row[-1][0], end)
        else:
            row.append((begin, end))
        used += separator + end - begin
    if row:
        yield row


def _pieces(block: TokenBlock, longest: int) -> Iterator[tuple[int, int, bool]]:
    """Yield the ranges of segments, cut to `longest`, and whether a document begins there."""
    tokens = block.segment_starts.tolist()
    first_segments = set(block.document_starts.tolist())
    for segment in range(block.segments):
        begin, end = tokens[segment], tokens[segment + 1]
        for start in range(begin, end, longest):
            is_new = start == begin and segment in first_segments
            yield start, min(start + longest, end), is_new
