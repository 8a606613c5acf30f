"""What the heads of one layer look at, as numbers for each text."""

from dataclasses import dataclass

import numpy as np
import tensorflow as tf

from kerazoo.analysis.packed_texts import NO_CHARACTER, PackedTexts
from kerazoo.axes import SEGMENT_IDS
from kerazoo.tokenizers.bert_characters import PUNCTUATION

MEASURES = (
    "entropy",
    "relative_entropy",
    "distance",
    "to_start",
    "to_separator",
    "to_previous",
    "to_next",
    "to_itself",
    "to_punctuation",
    "to_full_stop",
    "to_other_segment",
)
"""The columns of `head_measures`, whose docstring says what they are."""

_FULL_STOP = r"[.。．｡]+"


@dataclass(frozen=True)
class TokenRoles:
    """What the positions of packed texts are; each (batch, seq) bool.

    Args:
        real: no padding.
        start: the first token: `[CLS]`, `<s>`, or of a language model the first of the text.
        separator: `[SEP]`; or `$` and `<e>`.
        punctuation: a token of punctuation alone.
        full_stop: a token of full stops alone.
        first_text: a token of the first text, no special one.
        second_text: a token of the second text, no special one.
    """

    real: np.ndarray
    start: np.ndarray
    separator: np.ndarray
    punctuation: np.ndarray
    full_stop: np.ndarray
    first_text: np.ndarray
    second_text: np.ndarray

    @classmethod
    def of(cls, packed: PackedTexts) -> "TokenRoles":
        """Find the roles of the positions of packed texts."""
        width = packed.starts.shape[1]
        real = np.arange(width) < packed.lengths[:, np.newaxis]
        start = np.broadcast_to(np.arange(width) == 0, real.shape)
        ordinary = packed.starts != NO_CHARACTER
        second = packed.features[SEGMENT_IDS] == 1
        return cls(
            real=real,
            start=start,
            separator=real & ~ordinary & ~start,
            punctuation=_of_pattern(packed, f"{PUNCTUATION}+"),
            full_stop=_of_pattern(packed, _FULL_STOP),
            first_text=ordinary & ~second,
            second_text=ordinary & second,
        )


def head_measures(scores: np.ndarray, roles: TokenRoles, causal: bool) -> np.ndarray:
    """Measure the heads of one layer on each text.

    Every measure is a mean over the rows of the text, that is over its real tokens as the ones that
    look:

    * `entropy`: −Σ w ln w, in nats.
    * `relative_entropy`: that as a share of ln(visible keys), so that texts of different lengths,
      and the rows of a causal model, compare; a row that sees one key alone is left out.
    * `distance`: Σ w |query − key|, in tokens.
    * `to_…`: the share of the attention that goes to such tokens; of a text that has none it means
      nothing. `to_previous` leaves the first row out, `to_next` the last one. `to_other_segment` is
      that of ordinary tokens to ordinary tokens of the other text of a pair.

    Args:
        scores: (batch, heads, query, key) float32, the attention of a layer.
        roles: what the positions are.
        causal: bool, whether a position sees itself and earlier ones only.

    Returns:
        (batch, heads, measures) float64; NaN where a measure means nothing: `to_full_stop` of a
        text without one, `to_next` of a causal model, `to_other_segment` of a single text, or no
        row that counts.
    """
    rows = roles.real
    width = rows.shape[1]
    visible = _visible_keys(rows, causal)
    positions = np.arange(width)
    distance = np.abs(positions[:, np.newaxis] - positions).astype("float32")
    entropy = -(scores * np.log(np.maximum(scores, np.finfo("float32").tiny))).sum(axis=-1)
    relative = entropy / np.log(np.maximum(visible, 2))[:, np.newaxis]
    to_roles = scores @ np.stack(
        [roles.start, roles.separator, roles.punctuation, roles.full_stop], axis=-1
    )[:, np.newaxis].astype("float32")
    start, separator, punctuation, full_stop = np.moveaxis(to_roles, -1, 0)
    previous, following = _to_neighbours(scores)
    has_next = np.pad(rows[:, 1:], ((0, 0), (0, 1))) & (not causal)
    other, in_pair = _to_other_segment(scores, roles)
    measured = {
        "entropy": (entropy, rows),
        "relative_entropy": (relative, rows & (visible > 1)),
        "distance": ((scores * distance).sum(axis=-1), rows),
        "to_start": (start, rows),
        "to_separator": (separator, _where_any(rows, roles.separator)),
        "to_previous": (previous, rows & (positions > 0)),
        "to_next": (following, has_next),
        "to_itself": (np.diagonal(scores, axis1=-2, axis2=-1), rows),
        "to_punctuation": (punctuation, _where_any(rows, roles.punctuation)),
        "to_full_stop": (full_stop, _where_any(rows, roles.full_stop)),
        "to_other_segment": (other, in_pair),
    }
    return np.stack([_row_mean(*measured[name]) for name in MEASURES], axis=-1)


def _visible_keys(real: np.ndarray, causal: bool) -> np.ndarray:
    """Return how many keys each position sees, (batch, query)."""
    if causal:
        return np.cumsum(real, axis=1)
    return np.broadcast_to(real.sum(axis=1, keepdims=True), real.shape)


def _where_any(rows: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Return the rows of those texts that have such keys, (batch, query) bool."""
    return rows & keys.any(axis=1, keepdims=True)


def _to_neighbours(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights on the previous and on the next token, each (batch, heads, query)."""
    before = np.diagonal(scores, offset=-1, axis1=-2, axis2=-1)
    after = np.diagonal(scores, offset=1, axis1=-2, axis2=-1)
    return np.pad(before, ((0, 0), (0, 0), (1, 0))), np.pad(after, ((0, 0), (0, 0), (0, 1)))


def _to_other_segment(scores: np.ndarray, roles: TokenRoles) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight on the other text, (batch, heads, query), and which rows count."""
    keys = np.stack([roles.second_text, roles.first_text], axis=-1)[:, np.newaxis]
    to_second, to_first = np.moveaxis(scores @ keys.astype("float32"), -1, 0)
    is_pair = roles.second_text.any(axis=1, keepdims=True)
    other = np.where(roles.second_text[:, np.newaxis], to_first, to_second)
    return other, is_pair & (roles.first_text | roles.second_text)


def _row_mean(values: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Return the mean over the rows that count, (batch, heads) float64; NaN if none does."""
    weights = counted[:, np.newaxis].astype("float64")
    sums, counts = (values * weights).sum(axis=-1), weights.sum(axis=-1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _of_pattern(packed: PackedTexts, pattern: str) -> np.ndarray:
    """Return which positions stand for characters that match, (batch, seq) bool."""
    slices = [packed.slices(row) for row in range(len(packed.texts))]
    with tf.device("cpu"):
        flat = tf.constant([part for row in slices for part in row])
        matches = tf.strings.regex_full_match(flat, pattern).numpy()
    found = np.zeros_like(packed.starts, dtype=bool)
    found[np.arange(packed.starts.shape[1]) < packed.lengths[:, np.newaxis]] = matches
    return found
