import keras_nlp
import numpy as np
import pytest
from keras import ops

from kerazoo.generation.beam_sampler import BeamSampler
from kerazoo.generation.samplers import SAMPLERS, checked_sampler, seed_sampler

TopK = keras_nlp.samplers.TopKSampler


def test_every_name_is_a_sampler_of_its_kind():
    kinds = [type(checked_sampler(name, 31)).__name__ for name in SAMPLERS]
    assert kinds == [
        *("GreedySampler", "RandomSampler", "TopKSampler", "TopPSampler"),
        *("BeamSampler", "ContrastiveSampler"),
    ]
    assert type(checked_sampler("beam", 31)) is BeamSampler


def test_a_sampler_its_configuration_and_a_function_are_taken():
    own = TopK(3, seed=1, temperature=0.5)
    assert checked_sampler(own, 31) is own
    copy = checked_sampler(keras_nlp.samplers.serialize(own), 31)
    assert (type(copy), copy.k, copy.temperature) == (TopK, 3, 0.5)
    beam = checked_sampler(keras_nlp.samplers.BeamSampler(num_beams=3), 31)
    assert (type(beam), beam.num_beams) == (BeamSampler, 3)
    assert checked_sampler(test_every_name_is_a_sampler_of_its_kind, 31)


@pytest.mark.parametrize("sampler", [None, 5, TopK, ["greedy"]])
def test_what_is_no_sampler_is_refused(sampler):
    with pytest.raises(TypeError, match="a name, such as 'greedy'.*Received: sampler="):
        checked_sampler(sampler, 31)


@pytest.mark.parametrize(
    ("sampler", "message"),
    [
        ("Greedy", "one of 'greedy'.*sampler='Greedy'"),
        (TopK(3, temperature=0), "above 0.*sampler='greedy'. Received: temperature=0"),
        (TopK(3, temperature=-1.0), "temperature=-1.0"),
        (TopK(3, temperature=float("nan")), "temperature=nan"),
        (TopK(32), "from 1 to 31 tokens.*Received: k=32"),
        (TopK(0), "Received: k=0"),
        (keras_nlp.samplers.TopPSampler(0.9, 40), "Received: k=40"),
        (BeamSampler(32), "at most 31 beams. Received: num_beams=32"),
    ],
)
def test_settings_that_cannot_be_met_are_told(sampler, message):
    with pytest.raises(ValueError, match=message):
        checked_sampler(sampler, 31)


def test_candidates_must_be_counted_in_32_bits():
    checked_sampler(BeamSampler(42_000), 50_257)
    with pytest.raises(ValueError, match="at most 42730 beams. Received: num_beams=43000"):
        checked_sampler(BeamSampler(43_000), 50_257)


def test_the_same_seed_begins_the_same_numbers():
    one, other = TopK(3, seed=1), TopK(3, seed=2)

    def state(sampler):
        return ops.convert_to_numpy(sampler.seed_generator.state).tolist()

    assert state(one) != state(other)
    for seed in (7, np.int64(7), 2**32 - 1):
        seed_sampler(one, seed)
        seed_sampler(other, int(seed))
        assert state(one) == state(other)
    before = state(one)
    seed_sampler(one, 8)
    assert state(one) != before
    seed_sampler(print, 7)  # a function has no numbers


@pytest.mark.parametrize("seed", ["a", 1.5, True, -1, 2**32, None])
def test_what_is_no_seed_is_told(seed):
    with pytest.raises(ValueError, match="whole number from 0 to .*Received: seed="):
        seed_sampler(checked_sampler("greedy", 31), seed)
