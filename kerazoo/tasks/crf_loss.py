"""Loss and best tags of a CRF over those positions of a row that have a weight."""

from typing import Any

from keras import ops

from kerazoo.axes import Tensor
from kerazoo.layers.front import gathered_to_front


def crf_loss(crf: Any, emissions: Tensor, tags: Tensor, weights: Tensor) -> Tensor:
    """Return Σ w · −log P(tags of the row) / Σ w · words of the row: nats a word.

    The CRF runs over the positions with a weight, gathered to the front.

    Args:
        crf: a `kerazoo.layers.crf.CRF`.
        emissions: (batch, seq, tags) float.
        tags: (batch, seq) int.
        weights: (batch, seq) float, the row's weight where there is a word, 0 elsewhere.

    Returns:
        () float32, 0 if no position has a weight.
    """
    weights = ops.cast(weights, "float32")
    mask, emissions, tags = gathered_to_front(weights, emissions, tags)
    losses = crf.negative_log_likelihood(emissions, tags, mask)
    of_row = ops.max(weights, axis=1)
    return ops.divide_no_nan(ops.sum(of_row * losses), crf_weight(weights))


def crf_weight(weights: Tensor) -> Tensor:
    """Return Σ w · words of the row, () float32, by which `crf_loss` divides.

    Args:
        weights: as for `crf_loss`.
    """
    weights = ops.cast(weights, "float32")
    words = ops.sum(ops.cast(weights != 0, "float32"), axis=1)
    return ops.sum(ops.max(weights, axis=1) * words)


def decoded_rows(
    crf: Any, emissions: Tensor, tags: Tensor, weights: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return true tags, best tags and weights of each row, gathered to the front.

    Args:
        crf: as for `crf_loss`.
        emissions: as for `crf_loss`.
        tags: as for `crf_loss`.
        weights: as for `crf_loss`.

    Returns:
        Three tensors, (batch, seq): int, int32 and float32.
    """
    mask, emissions, tags, weights = gathered_to_front(
        weights, emissions, tags, ops.cast(weights, "float32")
    )
    return tags, crf.decode(emissions, mask)[0], weights
