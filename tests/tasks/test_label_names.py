import pytest

from kerazoo.tasks.label_names import label_names, weights_by_class


def test_names_are_given_or_numbers():
    assert label_names(("b", "a"), None) == ["b", "a"]
    assert label_names(None, 3) == ["0", "1", "2"]
    assert label_names([5, 7], 2) == ["5", "7"]


@pytest.mark.parametrize(
    ("labels", "num_classes", "message"),
    [
        (None, None, "labels=None, num_classes=None"),
        ("ab", None, "must be a list of names"),
        (["a", ""], None, "Every label needs a name"),
        (["a", "b"], 3, "disagree"),
        (["a"], None, "At least two different labels"),
        (["a", "a"], None, "At least two different labels"),
    ],
)
def test_bad_labels_are_named(labels, num_classes, message):
    with pytest.raises(ValueError, match=message):
        label_names(labels, num_classes)


def test_each_class_has_a_weight():
    assert weights_by_class({"b": 2, 0: 0.5}, ["a", "b", "c"]) == {0: 0.5, 1: 2.0, 2: 1.0}
    for wrong in ({"d": 1.0}, {3: 1.0}, {"a": -1}, {"a": "x"}, [1.0]):
        with pytest.raises(ValueError, match="Received: class_weight="):
            weights_by_class(wrong, ["a", "b", "c"])
