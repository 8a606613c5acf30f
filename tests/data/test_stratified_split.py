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
    with pytest.raises(ValueError, match="every label has only one row"):
        stratified_split(["a", "b", "c"], 0.5, seed=0)


@pytest.mark.parametrize(("labels", "received"), [(["a"], "rows=1"), ([], "rows=0")])
def test_what_is_said_of_too_few_rows_is_not_about_labels(labels, received):
    with pytest.raises(ValueError, match=f"needs two rows or more.*{received}") as raised:
        stratified_split(labels, 0.5, seed=0)
    assert "label" not in str(raised.value)
