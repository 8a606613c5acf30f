import numpy as np
import pytest
import tensorflow as tf

from kerazoo import BertPretrainerPreprocessor, MaskedLMPreprocessor

PAIRS = {"text": ["a good film", "bad", "the play"], "text_pair": ["very good", "dull !", "was"]}


@pytest.fixture(scope="module")
def preprocessor(tiny_tokenizer):
    return BertPretrainerPreprocessor(tiny_tokenizer, sequence_length=11)


def numpy(values):
    return tf.nest.map_structure(np.asarray, values)


def test_masks_are_those_of_masked_lm(preprocessor, tiny_tokenizer):
    features, targets, weights = numpy(preprocessor(PAIRS, y=[0, 1, 0], mask_seed=5))
    other = MaskedLMPreprocessor(tiny_tokenizer, sequence_length=11)
    expected, mask_ids, mask_weights = numpy(other(PAIRS, mask_seed=5))
    for key, value in expected.items():
        np.testing.assert_array_equal(features[key], value)
    np.testing.assert_array_equal(targets["masked_lm"], mask_ids)
    np.testing.assert_array_equal(weights["masked_lm"], mask_weights)
    assert targets["next_sentence"].tolist() == [0, 1, 0]
    assert weights["next_sentence"].tolist() == [1.0, 1.0, 1.0]


def test_row_weights_weigh_both_parts(preprocessor):
    row_weights = np.array([2.0, 0.0, 0.5], "float32")
    _, _, plain = numpy(preprocessor(PAIRS, y=[0, 1, 0], mask_seed=5))
    _, _, weights = numpy(preprocessor(PAIRS, y=[0, 1, 0], sample_weight=row_weights, mask_seed=5))
    np.testing.assert_array_equal(weights["next_sentence"], row_weights)
    np.testing.assert_array_equal(weights["masked_lm"], plain["masked_lm"] * row_weights[:, None])


def test_in_tf_data_and_with_names(preprocessor):
    eager = numpy(preprocessor(PAIRS, y=["next", "random", "next"], mask_seed=3))
    dataset = tf.data.Dataset.from_tensor_slices((PAIRS, ["next", "random", "next"])).batch(3)
    mapped = next(iter(dataset.map(lambda x, y: preprocessor(x, y=y, mask_seed=3))))
    tf.nest.map_structure(np.testing.assert_array_equal, numpy(mapped), eager)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (["a", "b"], [0, 1], r"1 text\(s\), labels"),
        ((["a"], ["b"]), None, r"2 text\(s\), no labels"),
    ],
)
def test_single_texts_and_missing_labels_are_refused(preprocessor, x, y, message):
    with pytest.raises(ValueError, match=message):
        preprocessor(x, y=y)
