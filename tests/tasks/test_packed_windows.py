import numpy as np
from tiny_token_classifier import LABELS, TAGS, WORDS, make_tiny_token_classifier

from kerazoo.tasks.packed_windows import packed_windows
from kerazoo.tasks.tagged_columns import tagged_columns, target_columns


def test_portions_give_what_all_rows_give_together():
    layer = make_tiny_token_classifier().preprocessor
    columns = tagged_columns(WORDS * 60)
    targets = target_columns(TAGS * 60, columns, LABELS)
    weight = np.linspace(0, 1, 300)
    rows = packed_windows(layer, columns, targets, weight)
    features, expected, weights, texts = layer.windows(columns, targets, weight)
    assert len(rows) == len(expected) > 300
    np.testing.assert_array_equal(rows.targets, expected)
    np.testing.assert_array_equal(rows.weights, weights)
    np.testing.assert_array_equal(rows.rows, texts)
    assert rows.rows[-1] == 299
    for key, value in rows.features.items():
        np.testing.assert_array_equal(value, features[key])


def test_rows_are_as_wide_as_the_longest_needs():
    layer = make_tiny_token_classifier().preprocessor
    columns = tagged_columns([["Ada", "came"]])
    assert packed_windows(layer, columns).features["token_ids"].shape == (1, 13)
    layer.pad_to_multiple_of = 4
    rows = packed_windows(layer, columns)
    assert rows.features["token_ids"].shape == (1, 4)
    assert rows.targets is rows.weights is None
    assert len(packed_windows(layer, {"words": columns["words"][:0]})) == 0
