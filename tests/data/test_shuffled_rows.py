from itertools import accumulate

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.data.shuffled_rows import rows_of_batch, shuffled_batches


class Numbers:
    """A source of 23 numbered rows in groups of 7, 0, 11 and 5."""

    training_rows = 23
    sizes = (7, 0, 11, 5)

    def group_sizes(self, epoch):
        return list(self.sizes)

    def groups(self, first):
        bounds = [0, *accumulate(self.sizes)]

        def endless():
            number = first
            while True:
                group = number % len(self.sizes)
                rows = np.arange(bounds[group], bounds[group + 1]).astype(str)
                if len(rows):
                    yield number, rows
                number += 1

        signature = (tf.TensorSpec((), tf.int64), tf.TensorSpec((None,), tf.string))
        return tf.data.Dataset.from_generator(endless, output_signature=signature)

    def place(self, group, row):
        group %= len(self.sizes)
        return f"part {group}", sum(self.sizes[:group]) + row


def numbers(batches, count, **options):
    dataset = shuffled_batches(Numbers(), 4, **options).take(count)
    return [[int(row) for row in batch] for batch in dataset.as_numpy_iterator()][:batches]


def test_every_row_comes_once_an_epoch_and_batches_go_on_over_its_end():
    flat = np.concatenate(numbers(23, 23, seed=5))
    epochs = flat.reshape(4, 23)
    assert all(sorted(epoch) == list(range(23)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 4
    assert set(epochs[0][:7]) == set(range(7))  # rows are shuffled within their group


@pytest.mark.parametrize("first_batch", [1, 4, 5, 6, 11, 17])
def test_the_order_is_the_same_from_any_batch_on(first_batch):
    whole = numbers(20, 20, seed=5)
    assert numbers(3, 3, seed=5, first_batch=first_batch) == whole[first_batch : first_batch + 3]


def test_another_seed_is_another_order():
    assert numbers(5, 5, seed=5) == numbers(5, 5, seed=5) != numbers(5, 5, seed=6)


def test_batches_have_one_size():
    assert shuffled_batches(Numbers(), 4, seed=5).element_spec.shape == (4,)


@pytest.mark.parametrize("number", [0, 1, 4, 5, 11])
def test_the_rows_of_a_batch_are_named(number):
    found = {}
    for part in rows_of_batch(Numbers(), 4, 5, number):
        rows, name = part.removeprefix("rows ").split(" of part ")
        found[int(name)] = [int(row) for row in rows.split(", ")]
    (batch,) = numbers(1, 1, seed=5, first_batch=number)
    assert sorted(sum(found.values(), [])) == sorted(batch)
    bounds = [0, *accumulate(Numbers.sizes)]
    for part, rows in found.items():
        assert all(bounds[part] <= row < bounds[part + 1] for row in rows)


def by_tens(rows):
    """Rows 0 to 9, 10 to 19 and 20 to 22 have a bucket each."""
    return tf.strings.to_number(rows, tf.int32) // 10


def test_batches_have_rows_of_one_bucket_as_far_as_a_group_has_them():
    batches = numbers(23, 23, seed=5, buckets=by_tens)
    epochs = np.concatenate(batches).reshape(4, 23)
    assert all(sorted(epoch) == list(range(23)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) == 4
    # The group of 7 to 17 has eight rows of bucket 1: two whole batches, or one and its ends.
    of_one = [len({row // 10 for row in batch}) == 1 for batch in batches]
    mixed = [len({row // 10 for row in batch}) == 1 for batch in numbers(23, 23, seed=5)]
    assert sum(of_one) > sum(mixed)


@pytest.mark.parametrize("first_batch", [1, 4, 5, 6, 11, 17])
def test_the_order_by_bucket_is_the_same_from_any_batch_on(first_batch):
    whole = numbers(20, 20, seed=5, buckets=by_tens)
    later = numbers(3, 3, seed=5, first_batch=first_batch, buckets=by_tens)
    assert later == whole[first_batch : first_batch + 3]
    parts = rows_of_batch(Numbers(), 4, 5, first_batch, by_tens)
    named = [int(row) for part in parts for row in part[5:].split(" of ")[0].split(", ")]
    assert sorted(named) == sorted(whole[first_batch])
