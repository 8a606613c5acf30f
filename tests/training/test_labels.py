import pytest

from kerazoo.data.table import Table
from kerazoo.training.labels import balanced_weights, check_known_labels, label_names


def table(*labels):
    return Table("a.tsv", {"text": ["x"] * len(labels), "label": list(labels)}, list(range(2, 99)))


def test_labels_are_sorted_whole_numbers_by_value():
    assert label_names(table("good", "bad", "good")) == ["bad", "good"]
    assert label_names(table("10", "9", "2")) == ["2", "9", "10"]
    assert label_names(table("10", "9", "x")) == ["10", "9", "x"]


def test_one_label_is_refused():
    with pytest.raises(ValueError, match=r"a\.tsv: every row has the label 'good'"):
        label_names(table("good", "good"))


def test_an_unknown_label_is_named_by_file_line_and_what_is_known():
    check_known_labels(table("a", "b"), ["a", "b", "c"])
    with pytest.raises(ValueError, match=r"a\.tsv, line 4: the label 'd' .* knows a, b, c\."):
        check_known_labels(table("a", "b", "d", "e"), ["a", "b", "c"])


def test_many_known_labels_are_not_all_listed():
    with pytest.raises(ValueError, match=r"knows 0, 1, .*, 11, …\."):
        check_known_labels(table("x"), [str(n) for n in range(99)])


def test_balanced_weights_make_labels_equal_and_average_to_one():
    weights = balanced_weights(["a"] * 6 + ["b"] * 2 + ["c"])
    assert weights == {"a": 0.5, "b": 1.5, "c": 3.0}
    assert 6 * weights["a"] + 2 * weights["b"] + weights["c"] == 9
