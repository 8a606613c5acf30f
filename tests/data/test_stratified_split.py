from collections import Counter

import pytest

from kerazoo.data.stratified_split import stratified_split

LABELS = ["a"] * 40 + ["b"] * 20 + ["c"] * 3 + ["d"]


def test_every_label_keeps_its_share_and_no_row_is_lost():
    kept, held_out = stratified_split(LABELS, 0.2, seed=5)
    assert sorted(kept + held_out) == list(range(64))
    assert Counter(LABELS[i] for i in held_out) == {"a": 8, "b": 4, "c": 1}


def test_the_seed_decides():
    assert stratified_split(LABELS, 0.2, seed=5) == stratified_split(LABELS, 0.2, seed=5)
    assert stratified_split(LABELS, 0.2, seed=5) != stratified_split(LABELS, 0.2, seed=6)


def test_a_large_share_still_keeps_a_row_of_each_label():
    kept, _ = stratified_split(LABELS, 0.99, seed=0)
    assert Counter(LABELS[i] for i in kept) == {"a": 1, "b": 1, "c": 1, "d": 1}


@pytest.mark.parametrize("fraction", [0, 1, -0.5, 1.5])
def test_a_fraction_that_is_no_share_is_refused(fraction):
    with pytest.raises(ValueError, match="fraction"):
        stratified_split(LABELS, fraction, seed=0)


def test_labels_of_one_row_cannot_be_split():
    with pytest.raises(ValueError, match="not two rows of any label.*Received: rows=3"):
        stratified_split(["a", "b", "c"], 0.5, seed=0)
    with pytest.raises(ValueError, match="there are not two rows. Give more.*Received: rows=1"):
        stratified_split([""], 0.5, seed=0)
