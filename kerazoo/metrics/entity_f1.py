"""F1 of entities as a Keras metric."""

from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from kerazoo.axes import Tensor
from kerazoo.checks import check_one_of
from kerazoo.layers.front import gathered_to_front
from kerazoo.metrics.entity_spans import MODES, OUTSIDE, split_tag


@keras.saving.register_keras_serializable(package="kerazoo")
class EntityF1(keras.metrics.Metric):
    """2 · right / (found + true) over the entities of all rows and types (micro F1).

    An entity is right if its type, its first and its last word are. Equal to `seqeval`'s `f1_score`
    in its default mode, or with `mode="strict", scheme=IOB2`. Words without a weight, such as
    padding, later pieces of words and special tokens, take no part.

    Args:
        labels: the tags in the order of the classes.
        mode: "default" lets an I- that goes on with no entity of its type begin one; in "strict"
            only B- does.
        name: str.
        **kwargs: `dtype`.
    """

    def __init__(
        self,
        labels: Sequence[str],
        mode: str = "default",
        name: str = "entity_f1",
        **kwargs: Any,
    ) -> None:
        """Create the counts."""
        super().__init__(name=name, **kwargs)
        check_one_of("mode", mode, MODES)
        self.labels = list(labels)
        self.mode = mode
        parts = [split_tag(label) for label in self.labels]
        self.types = list(dict.fromkeys(kind for prefix, kind in parts if prefix != OUTSIDE))
        numbers = [-1 if p == OUTSIDE else self.types.index(kind) for p, kind in parts]
        self._type_of = np.array(numbers, "int32")
        self._begins = np.array([prefix in ("B", "S") for prefix, _ in parts])
        self._ends = np.array([prefix in ("E", "S") for prefix, _ in parts])
        self.counts = self.add_variable(
            shape=(3, max(1, len(self.types))), initializer="zeros", name="counts"
        )

    def update_state(self, y_true: Tensor, y_pred: Tensor, sample_weight: Tensor = None) -> None:
        """Add a batch.

        Args:
            y_true: (batch, seq) int, the true tags.
            y_pred: (batch, seq, tags) float, logits, or (batch, seq) int, tags.
            sample_weight: (batch, seq) float, above 0 where there is a word; None is everywhere.
        """
        true, found = ops.cast(y_true, "int32"), ops.convert_to_tensor(y_pred)
        if len(found.shape) == 3:
            found = ops.argmax(found, axis=-1)
        found = ops.cast(found, "int32")
        mask = (
            ops.ones_like(true) if sample_weight is None else ops.convert_to_tensor(sample_weight)
        )
        mask, true, found = gathered_to_front(mask > 0, true, found)
        true_type, true_start, true_end = self._entities(true, mask)
        found_type, found_start, found_end = self._entities(found, mask)
        is_right = true_start & found_start & (true_type == found_type) & (true_end == found_end)
        counted = ((true_type, is_right), (found_type, found_start), (true_type, true_start))
        self.counts.assign_add(ops.stack([self._by_type(*pair) for pair in counted]))

    def result(self) -> Tensor:
        """Return the F1 of all batches so far, 0 if there is no entity."""
        right, found, true = ops.unstack(ops.sum(self.counts, axis=1), 3)
        return ops.divide_no_nan(2 * right, found + true)

    def report(self) -> dict[str, Any]:
        """Return `precision`, `recall` and `f1` so far, and those of each type in `types`."""
        counts = ops.convert_to_numpy(self.counts)[:, : len(self.types)]
        types = dict(zip(self.types, map(_measures, counts.T), strict=True))
        return {**_measures(counts.sum(axis=1)), "types": types}

    def reset_state(self) -> None:
        """Forget all batches."""
        self.counts.assign(ops.zeros(self.counts.shape))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {**super().get_config(), "labels": self.labels, "mode": self.mode}

    def _entities(self, tags: Tensor, mask: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the type at each position, where entities begin, and where what is there ends."""
        kind = ops.where(mask, ops.take(self._type_of, tags), -1)
        begins, ends = ops.take(self._begins, tags), ops.take(self._ends, tags)
        goes_on = (kind[:, 1:] >= 0) & (kind[:, 1:] == kind[:, :-1])
        goes_on = ops.pad(goes_on & ~begins[:, 1:] & ~ends[:, :-1], ((0, 0), (1, 0)))
        starts = (kind >= 0) & (begins if self.mode == "strict" else ~goes_on)
        width = ops.shape(tags)[1]
        position = ops.arange(width, dtype="int32")
        is_later = position[None, :] > position[:, None]
        stops = is_later[None] & ~goes_on[:, None, :]
        return kind, starts, ops.min(ops.where(stops, position[None, None, :], width), axis=2)

    def _by_type(self, kind: Tensor, flags: Tensor) -> Tensor:
        """Return how many flags there are of each type, (types,) float."""
        of_type = kind[:, :, None] == ops.arange(self.counts.shape[1], dtype="int32")
        return ops.sum(ops.cast(of_type & flags[:, :, None], self.dtype), axis=(0, 1))


def _measures(counts: np.ndarray) -> dict[str, float]:
    right, found, true = (float(count) for count in counts)
    return {
        "precision": right / found if found else 0.0,
        "recall": right / true if true else 0.0,
        "f1": 2 * right / (found + true) if found + true else 0.0,
    }
