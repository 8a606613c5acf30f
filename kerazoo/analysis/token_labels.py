"""What people read in the place of a token: its own text, or the name of a special one."""

import re
from collections import Counter
from collections.abc import Iterator

from kerazoo.analysis.attention import AttentionMap
from kerazoo.analysis.packed_texts import NO_CHARACTER
from kerazoo.tokenizers.byte_characters import entry_to_bytes

_VISIBLE = {"\n": "⏎", "\r": "⏎", "\t": "⇥"}
_SPACE = "␣"
_NO_BREAK = "\N{NO-BREAK SPACE}"
_SPECIAL = re.compile(r"\[[A-Z]+\]|<\|?\w+\|?>")


def token_labels(found: AttentionMap) -> list[str]:
    """Return what people read in the place of each token.

    That is the slice of the caller's own text, not the vocabulary's entry: "ing", not "##ing" or
    "ĠÃ©". Special tokens have their names; white space is shown by signs; and tokens that share a
    character, as the bytes of an emoji do, are numbered: "😀 1/4".

    Args:
        found: the attention on a text, or pair.
    """
    runs = _runs(found)
    sizes, seen, labels = Counter(runs), Counter[int](), []
    for text, run in zip(_slices(found), runs, strict=True):
        seen[run] += 1
        labels.append(text if sizes[run] == 1 else f"{text}{_NO_BREAK}{seen[run]}/{sizes[run]}")
    return labels


def unusual_entries(found: AttentionMap) -> list[str | None]:
    """Return the vocabulary's entry of a token that a special entry replaces, such as `[UNK]`.

    Args:
        found: the attention on a text, or pair.

    Returns:
        For each token its entry, or None where the label says all that the model saw.
    """
    return [
        entry if _SPECIAL.fullmatch(entry) and entry != label else None
        for entry, label in zip(found.tokens, token_labels(found), strict=True)
    ]


def _slices(found: AttentionMap) -> Iterator[str]:
    places = zip(found.tokens, found.segment_ids, found.offsets, strict=True)
    for entry, segment, (start, end) in places:
        if start == NO_CHARACTER:
            yield entry
        elif start == end:
            text = entry_to_bytes(entry).decode("utf-8", errors="replace")
            yield "".join(_VISIBLE.get(sign, _SPACE) for sign in text)
        else:
            yield found.texts[segment][start:end]


def _runs(found: AttentionMap) -> list[int]:
    """Return a number for each token; tokens side by side that share a character have the same."""
    numbers: list[int] = []
    last_segment, last_end = -1, -1
    for segment, (start, end) in zip(found.segment_ids, found.offsets, strict=True):
        shares = segment == last_segment and NO_CHARACTER < start < last_end and start < end
        numbers.append(numbers[-1] if shares else len(numbers))
        last_segment, last_end = segment, end
    return numbers
