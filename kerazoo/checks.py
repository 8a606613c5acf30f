"""Checks of arguments that all fail in one form: a sentence, then ``Received: name=value``."""

from collections.abc import Collection
from numbers import Integral

from kerazoo.axes import Tensor


def is_whole_number(value: object) -> bool:
    """Return whether `value` is an integer of Python or NumPy, and no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_positive(name: str, value: int | float) -> None:
    """Raise ValueError unless `value` is a number above zero."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"`{name}` must be a number above zero. Received: {name}={value!r}")


def check_divisible(name: str, value: int, by_name: str, by: int) -> None:
    """Raise ValueError unless `value` is a whole multiple of `by`."""
    if value % by:
        raise ValueError(
            f"`{name}` must be a multiple of `{by_name}`. "
            f"Received: {name}={value!r}, {by_name}={by!r}"
        )


def check_one_of(name: str, value: object, choices: Collection[object]) -> None:
    """Raise ValueError unless `value` is one of `choices`."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ValueError(f"`{name}` must be one of {listed}. Received: {name}={value!r}")


def check_rate(name: str, value: float) -> None:
    """Raise ValueError unless `value` is a share: at least 0 and below 1."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1:
        raise ValueError(
            f"`{name}` must be a number of at least 0 and below 1. Received: {name}={value!r}"
        )


def check_known_arguments(owner: str, arguments: Collection[str], known: Collection[str]) -> None:
    """Raise TypeError if a name in `arguments` is not among `known`; Keras would ignore it."""
    unknown = sorted(set(arguments) - set(known))
    if unknown:
        raise TypeError(f"{owner} has no such argument. Received: {', '.join(unknown)}")


def check_rank(name: str, tensor: Tensor, rank: int) -> None:
    """Raise ValueError unless `tensor` has `rank` axes."""
    shape = tuple(tensor.shape)
    if len(shape) != rank:
        raise ValueError(f"`{name}` must have {rank} axes. Received: {name} of shape {shape}")
