"""The labels of a task: their names, and weights by name."""

from collections.abc import Mapping, Sequence
from typing import Any


def label_names(labels: Sequence[str] | None, num_classes: int | None) -> list[str]:
    """Return the label names in the order of the classes.

    Args:
        labels: the names; None if there are none.
        num_classes: int, the number of classes, whose names are then "0", "1", ….

    Raises:
        ValueError: if neither or contradicting ones are given, or fewer than two different ones.
    """
    if labels is None and num_classes is None:
        raise ValueError(
            "The labels are not known: pass `labels=[…]` or `num_classes=…`. "
            "Received: labels=None, num_classes=None"
        )
    if labels is None:
        labels = [str(number) for number in range(num_classes or 0)]
    if isinstance(labels, (str, set, frozenset)):
        raise ValueError(f"`labels` must be a list of names. Received: labels={labels!r}")
    if any(label is None or label == "" for label in labels):
        raise ValueError(f"Every label needs a name. Received: labels={list(labels)}")
    labels = [str(label) for label in labels]
    if num_classes is not None and num_classes != len(labels):
        raise ValueError(
            f"`labels` and `num_classes` disagree. Received: labels={labels}, "
            f"num_classes={num_classes}"
        )
    if len(labels) < 2 or len(set(labels)) != len(labels):
        raise ValueError(f"At least two different labels are needed. Received: labels={labels}")
    return labels


def weights_by_class(class_weight: Mapping[Any, float], labels: Sequence[str]) -> dict[int, float]:
    """Return the weight of each class by its number.

    Args:
        class_weight: weights by label name or class number; a class that is not named has 1.
        labels: the label names in the order of the classes.

    Raises:
        ValueError: for an unknown class, or a weight that is no number of at least 0.
    """
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "`class_weight` must be a dict of labels and weights, like "
            f"{{{labels[0]!r}: 2.0}}. Received: class_weight={class_weight!r}"
        )
    for weight in class_weight.values():
        if isinstance(weight, str) or not weight >= 0:
            raise ValueError(
                "The weights in `class_weight` must be numbers of at least 0. "
                f"Received: class_weight={dict(class_weight)}"
            )
    if any(key not in labels and key not in range(len(labels)) for key in class_weight):
        raise ValueError(
            f"`class_weight` names classes the task does not have; it has "
            f"{', '.join(labels)}. Received: class_weight={dict(class_weight)}"
        )
    # Keras wants a weight for each class.
    weights = dict.fromkeys(range(len(labels)), 1.0)
    for key, weight in class_weight.items():
        weights[labels.index(key) if isinstance(key, str) else int(key)] = float(weight)
    return weights
