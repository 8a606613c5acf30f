"""Pairs of texts for next-sentence prediction, built as BERT's were (Devlin et al., 2018, A.2)."""

from bisect import bisect_left
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import numpy as np

from kerazoo.data.token_block import TokenBlock

NEXT = 0
RANDOM = 1
_DRAWS = 10


class SentencePair(NamedTuple):
    """Two texts as ranges of a block's tokens.

    Attributes:
        first_start: int, the first token of the first text.
        first_end: int, the token behind it.
        second_start: int, the first token of the second text.
        second_end: int, the token behind it.
        label: int, 0 if the second text follows the first one, 1 if it comes from elsewhere.
    """

    first_start: int
    first_end: int
    second_start: int
    second_end: int
    label: int


def sentence_pairs(
    block: TokenBlock, longest: int, short_sequence_rate: float, random: Random
) -> Iterator[SentencePair]:
    """Yield the pairs of a block, document after document.

    Segments are gathered until they have the wanted length, which is `longest`, or in a share of
    the documents a random shorter one. A random number of them is the first text. The second is
    what follows, or with probability 0.5 (and always if there is one segment only) a run of
    segments of another document; then the segments that were not used are gathered again. What is
    too long is cut, the longer text first, each token in front or at the back at random.

    Other than in Google's code the second text never comes from the same document, and never
    begins with a segment that equals the one that follows.

    Args:
        block: at least two documents.
        longest: int, the most tokens of a pair, special tokens not counted.
        short_sequence_rate: float, the share of documents with shorter pairs.
        random: where all that is drawn comes from.

    Raises:
        ValueError: if the block has a single document.
    """
    check_documents(block.documents)
    builder = _PairBuilder(block, longest, random)
    for document in range(block.documents):
        target = longest
        if random.random() < short_sequence_rate:
            target = 2 + int(random.random() * (longest - 1))
        yield from builder.pairs_of(document, target)


def check_documents(count: int) -> None:
    """Raise ValueError unless there are two documents, of which pairs can be made."""
    if count < 2:
        raise ValueError(
            "The second text of a pair comes from another document, and there is only one. Put "
            "blank lines between documents, or choose the objective 'bert-mlm'. "
            f"Received: documents={count}"
        )


class _PairBuilder:
    """Builds the pairs of one document after another."""

    def __init__(self, block: TokenBlock, longest: int, random: Random) -> None:
        self._ids = block.ids
        self._tokens: list[int] = block.segment_starts.tolist()
        self._documents: list[int] = block.document_starts.tolist()
        self._longest = longest
        self._random = random

    def pairs_of(self, document: int, target: int) -> Iterator[SentencePair]:
        """Yield the pairs whose first text is in a document, of about `target` tokens."""
        tokens, begin, end = self._tokens, *self._documents[document : document + 2]
        while begin < end:
            # The first segment with which the gathered ones are long enough, or the last.
            gathered = bisect_left(tokens, tokens[begin] + target, begin + 1, end)
            middle = begin + 1
            if gathered > middle:
                middle += int(self._random.random() * (gathered - middle))
            follows = gathered > middle
            chosen = None
            if not follows or self._random.random() < 0.5:
                chosen = self._random_segment(document, middle if middle < end else None)
            first = (tokens[begin], tokens[middle])
            if chosen is not None:
                length = target - (first[1] - first[0])
                yield self._cut(*first, *self._random_text(chosen, length), RANDOM)
                begin = middle
            else:
                if follows:
                    yield self._cut(*first, tokens[middle], tokens[gathered], NEXT)
                begin = gathered

    def _random_segment(self, document: int, true_next: int | None) -> int | None:
        """Draw a segment of another document that differs from the true next one."""
        for _ in range(_DRAWS):
            other = int(self._random.random() * (len(self._documents) - 2))
            other += other >= document
            begin, end = self._documents[other : other + 2]
            segment = begin + int(self._random.random() * (end - begin))
            if true_next is None or not self._equal(segment, true_next):
                return segment
        own = range(*self._documents[document : document + 2])
        others = [
            segment
            for segment in range(self._documents[-1])
            if segment not in own and (true_next is None or not self._equal(segment, true_next))
        ]
        return others[int(self._random.random() * len(others))] if others else None

    def _random_text(self, segment: int, length: int) -> tuple[int, int]:
        """Return the segments of a document from one on, until they have the length."""
        document = bisect_left(self._documents, segment + 1) - 1
        end = self._documents[document + 1]
        last = bisect_left(self._tokens, self._tokens[segment] + length, segment + 1, end)
        return self._tokens[segment], self._tokens[last]

    def _equal(self, segment: int, other: int) -> bool:
        one, two = (
            self._ids[self._tokens[number] : self._tokens[number + 1]]
            for number in (segment, other)
        )
        return np.array_equal(one, two)

    def _cut(self, a: int, a_end: int, b: int, b_end: int, label: int) -> SentencePair:
        """Cut the longer text until both fit, as if token by token."""
        lengths = a_end - a, b_end - b
        excess = max(0, sum(lengths) - self._longest)
        uneven = min(excess, abs(lengths[0] - lengths[1]))
        from_first = (excess - uneven) // 2 + (uneven if lengths[0] > lengths[1] else 0)
        from_second = excess - from_first
        front_first, front_second = (self._heads(n) for n in (from_first, from_second))
        return SentencePair(
            a + front_first,
            a_end - (from_first - front_first),
            b + front_second,
            b_end - (from_second - front_second),
            label,
        )

    def _heads(self, tosses: int) -> int:
        return self._random.getrandbits(tosses).bit_count() if tosses else 0
