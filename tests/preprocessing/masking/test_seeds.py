import pytest
import tensorflow as tf

from kerazoo.preprocessing.masking.seeds import batch_seeds, seed_of_texts, to_seed


def epoch(dataset, batches=5):
    return [tuple(seed.tolist()) for seed in dataset.take(batches).as_numpy_iterator()]


def test_training_has_other_seeds_in_each_epoch_and_the_same_epochs_for_the_same_seed():
    seeds = batch_seeds(7, training=True)
    first, second = epoch(seeds), epoch(seeds)
    assert len({*first, *second}) == 10
    again = batch_seeds(7, training=True)
    assert (epoch(again), epoch(again)) == (first, second)
    assert epoch(batch_seeds(8, training=True)) != first


def test_evaluation_has_the_same_seeds_every_time():
    seeds = batch_seeds(7, training=False)
    assert epoch(seeds) == epoch(seeds) == [(7, number) for number in range(5)]
    assert epoch(batch_seeds(7, training=False, first_batch=3), 2) == [(7, 3), (7, 4)]


def test_training_cannot_begin_in_the_middle():
    with pytest.raises(ValueError, match="first_batch=3"):
        batch_seeds(7, training=True, first_batch=3)


@pytest.mark.parametrize(
    ("seed", "expected"), [(5, [5, 0]), (-1, [2**31 - 2, 0]), ([3, 4], [3, 4]), (2**40, [512, 0])]
)
def test_any_whole_number_is_a_seed(seed, expected):
    assert to_seed(seed).numpy().tolist() == expected


def test_texts_decide_about_the_seed_of_their_batch():
    texts, others = [tf.constant(["a", "b"])], [tf.constant(["a", "c"])]
    seeds = [seed_of_texts(t, s).numpy().tolist() for t in (texts, others) for s in (1, 1, 2)]
    assert seeds[0] == seeds[1]
    assert len({tuple(seed) for seed in seeds}) == 4
    unseeded = [tuple(seed_of_texts(texts, None).numpy()) for _ in range(2)]
    assert len(set(unseeded)) == 2
