"""Random labels that a probe can only memorise (Hewitt and Liang 2019)."""

from collections.abc import Hashable, Sequence

import numpy as np


def control_labels(types: Sequence[Hashable], classes: np.ndarray, seed: int) -> np.ndarray:
    """Return a random class for each example, the same for all examples of one type.

    The classes of the types are drawn with the shares that the classes have among the examples.

    Args:
        types: what each example is: its word, or its text.
        classes: (examples,) int, the real classes.
        seed: int, seed of the draw.

    Returns:
        (examples,) int64.
    """
    number_of = {kind: number for number, kind in enumerate(dict.fromkeys(types))}
    generator = np.random.default_rng(seed)
    drawn = generator.choice(np.asarray(classes), size=len(number_of))
    return drawn[[number_of[kind] for kind in types]].astype("int64")
