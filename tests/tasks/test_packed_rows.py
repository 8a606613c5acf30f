import keras
import numpy as np
import pytest

import kerazoo
from kerazoo.tasks.packed_rows import packed_rows

TEXT_NUMBERS = np.array([[1, 1, 1, 1, 2, 2, 2, 3, 0], [1, 1, 2, 2, 2, 2, 2, 2, 2]], "int32")


def one_by_one(values, places):
    """Return the values of each text at the beginning of a row of its own."""
    alone = np.zeros((len(places), 9), values.dtype)
    for text, (row, is_here) in enumerate(places):
        alone[text, : is_here.sum()] = values[row][is_here]
    return alone


def packed_and_alone(task):
    """Return inputs, targets and weights of two packed rows, and of their five texts alone."""
    random = np.random.default_rng(3)
    x = {key: random.integers(2, 31, size=(2, 9)).astype("int32") for key in task.input}
    y = random.integers(31, size=(2, 9)).astype("int32")
    weights = random.uniform(0.5, 2, size=(2, 9)).astype("float32") * (TEXT_NUMBERS > 0)
    places = [(r, TEXT_NUMBERS[r] == n) for r, n in [(0, 1), (0, 2), (0, 3), (1, 1), (1, 2)]]
    if "segment_ids" in x:
        x["segment_ids"] %= 2
    x["padding_mask"] = TEXT_NUMBERS
    texts = {key: one_by_one(value, places) for key, value in x.items()}
    texts["padding_mask"] = np.sign(texts["padding_mask"])
    if "mask_positions" in x:  # every token is one
        x["mask_positions"] = np.tile(np.arange(9, dtype="int32"), (2, 1))
        texts["mask_positions"] = np.tile(np.arange(9, dtype="int32"), (5, 1))
    return (x, y, weights), (texts, one_by_one(y, places), one_by_one(weights, places))


@pytest.mark.parametrize("family", ["bert", "gpt"])
def test_the_loss_of_packed_rows_is_that_of_their_texts(make_tiny_backbone, make_tiny_gpt, family):
    if family == "bert":
        task = kerazoo.MaskedLM(make_tiny_backbone(initializer_range=0.3, dropout=0.0))
    else:
        task = kerazoo.CausalLM(make_tiny_gpt(vocabulary_size=31, dropout=0.0))
    task.compile(keras.optimizers.SGD(0.1))
    packed, alone = packed_and_alone(task)
    expected = task.evaluate(*alone[:2], sample_weight=alone[2], verbose=0, return_dict=True)
    as_one = ({**packed[0], "padding_mask": np.sign(TEXT_NUMBERS)}, packed[1])
    joined = task.evaluate(*as_one, sample_weight=packed[2], verbose=0, return_dict=True)
    with packed_rows(task):
        found = task.evaluate(*packed[:2], sample_weight=packed[2], verbose=0, return_dict=True)
    assert found == pytest.approx(expected, rel=1e-5)
    assert abs(joined["loss"] - expected["loss"]) > 1e-3
    # Behind the block rows are read as before it.
    again = task.evaluate(*as_one, sample_weight=packed[2], verbose=0, return_dict=True)
    assert again == pytest.approx(joined, rel=1e-6)


def test_only_own_backbones_read_packed_rows(tiny_text_classifier, monkeypatch):
    with packed_rows(tiny_text_classifier, False):
        assert not tiny_text_classifier.backbone.reads_packed_rows
    monkeypatch.setattr(tiny_text_classifier, "backbone", keras.Sequential())
    with pytest.raises(ValueError, match="Only kerazoo's backbones"):
        packed_rows(tiny_text_classifier).__enter__()
