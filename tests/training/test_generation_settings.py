import keras_nlp
import pytest

from kerazoo.generation.beam_sampler import BeamSampler
from kerazoo.training.generation_settings import GenerationSettings

samplers = keras_nlp.samplers


@pytest.mark.parametrize(
    ("settings", "expected", "temperature"),
    [
        ({}, samplers.GreedySampler, 1.0),
        ({"temperature": 0.7}, samplers.RandomSampler, 0.7),
        ({"top_k": 5}, samplers.TopKSampler, 1.0),
        ({"top_k": 1, "temperature": 0.5}, samplers.GreedySampler, 1.0),
        ({"top_p": 0.9, "temperature": 2.0}, samplers.TopPSampler, 2.0),
        ({"top_p": 0.9, "top_k": 5}, samplers.TopPSampler, 1.0),
        ({"num_beams": 3}, BeamSampler, 1.0),
    ],
)
def test_settings_choose_the_sampler(settings, expected, temperature):
    sampler = GenerationSettings(**settings).sampler()
    assert type(sampler) is expected
    assert sampler.temperature == temperature
    for name, value in settings.items():
        if name in ("num_beams", "top_p", "top_k") and expected not in (samplers.GreedySampler,):
            assert getattr(sampler, name.removeprefix("top_")) == value


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_new_tokens": 0}, "max_new_tokens=0"),
        ({"temperature": -1.0}, "temperature=-1.0"),
        ({"top_k": -1}, "top_k=-1"),
        ({"temperature": float("nan")}, "temperature=nan"),
        ({"temperature": float("inf")}, "temperature=inf"),
        ({"seed": 10**20}, "seed=1000"),
        ({"top_k": 2**31}, "top_k=2147483648"),
        ({"top_p": float("nan")}, "top_p=nan"),
        ({"top_p": 0.0}, "top_p=0.0"),
        ({"top_p": 1.5}, "top_p=1.5"),
        ({"num_beams": 2, "top_k": 3}, "A beam search draws nothing at random"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        GenerationSettings(**settings)
