"""How tokens are chosen: the samplers of KerasHub, checked, with a beam search of our own."""

from typing import Any

import keras
import keras_nlp
import numpy as np

from kerazoo.checks import check_one_of, is_whole_number
from kerazoo.generation.beam_sampler import BeamSampler

SAMPLERS = ("greedy", "random", "top_k", "top_p", "beam", "contrastive")
"""The names that `CausalLM.compile` takes."""


def checked_sampler(sampler: Any, vocabulary_size: int) -> Any:
    """Return the sampler that is meant; for KerasHub's beam search kerazoo's own.

    Args:
        sampler: one of `SAMPLERS`, a `keras_nlp.samplers.Sampler`, its configuration, or a function
            that is called as one.
        vocabulary_size: int, tokens of the model.

    Raises:
        TypeError: if it is something else.
        ValueError: if the name is unknown, or a setting cannot be met.
    """
    if isinstance(sampler, str):
        check_one_of("sampler", sampler, SAMPLERS)
    if isinstance(sampler, (str, dict)):
        sampler = keras_nlp.samplers.get(sampler)
    if isinstance(sampler, type) or not callable(sampler):
        raise TypeError(
            "`sampler` is a name, such as 'greedy', or a sampler, such as "
            f"`keras_nlp.samplers.TopKSampler(k=5)`. Received: sampler={sampler!r}"
        )
    if type(sampler) is keras_nlp.samplers.BeamSampler:
        sampler = BeamSampler(**sampler.get_config())
    _check_settings(sampler, vocabulary_size)
    return sampler


def seed_sampler(sampler: Any, seed: int) -> None:
    """Begin a sampler's random numbers with a seed.

    Args:
        sampler: the sampler; one that draws nothing has nothing to begin.
        seed: int, from 0 to 2**32 - 1.

    Raises:
        ValueError: if the seed is something else.
    """
    if not is_whole_number(seed) or not 0 <= seed < 2**32:
        raise ValueError(
            f"`seed` must be a whole number from 0 to 2**32 - 1. Received: seed={seed!r}"
        )
    for generator in getattr(sampler, "_seed_generators", ()):
        fresh = keras.random.SeedGenerator(int(seed))
        generator.state.assign(fresh.state)


def _check_settings(sampler: Any, vocabulary_size: int) -> None:
    """Raise ValueError for a temperature that divides by zero, or more candidates than tokens."""
    temperature = getattr(sampler, "temperature", 1.0)
    if not temperature > 0:
        raise ValueError(
            "The temperature of a sampler must be above 0; the likeliest token is that of "
            f"sampler='greedy'. Received: temperature={temperature!r}"
        )
    k = getattr(sampler, "k", None)
    if isinstance(k, (int, np.integer)) and not 1 <= k <= vocabulary_size:
        raise ValueError(
            f"A sampler chooses from 1 to {vocabulary_size} tokens, as the model has no more. "
            f"Received: k={k}"
        )
    beams = getattr(sampler, "num_beams", 1)
    if beams > vocabulary_size or beams * vocabulary_size >= 2**31:
        most = min(vocabulary_size, (2**31 - 1) // vocabulary_size)
        raise ValueError(
            f"On {vocabulary_size} tokens a search keeps at most {most} beams. "
            f"Received: num_beams={beams}"
        )
