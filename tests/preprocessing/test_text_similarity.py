import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_gpt import tiny_byte_tokenizer

from kerazoo.preprocessing.text_classifier import TextClassifierPreprocessor
from kerazoo.preprocessing.text_similarity import TextSimilarityPreprocessor

PAIR = (["a good film", "dull", "a $ <e> film that is far too long"], ["the play", "not bad", ""])


def numbers(structure):
    return tf.nest.map_structure(lambda t: np.asarray(keras.ops.convert_to_numpy(t)), structure)


def test_both_orders_are_the_two_packed_pairs():
    tokenizer = tiny_byte_tokenizer()
    both = numbers(TextSimilarityPreprocessor(tokenizer, 20, both_orders=True)(PAIR))
    one = TextClassifierPreprocessor(tokenizer, 20)
    for key, value in both.items():
        assert value.shape == (3, 2, 20)
        np.testing.assert_array_equal(value[:, 0], numbers(one(PAIR))[key])
        np.testing.assert_array_equal(value[:, 1], numbers(one(PAIR[::-1]))[key])
    ids = both["token_ids"]
    assert (ids[:, :, 0] == tokenizer.text_start_token_id).all()
    assert (ids == tokenizer.delimiter_token_id).sum() == (ids == tokenizer.extract_token_id).sum()
    assert (ids == tokenizer.extract_token_id).sum() == 6


@pytest.mark.parametrize("multiple", [None, 4])
@pytest.mark.parametrize("both_orders", [False, True])
def test_the_same_eagerly_and_in_a_dataset(tiny_tokenizer, both_orders, multiple):
    preprocessor = TextSimilarityPreprocessor(
        tiny_tokenizer, 12, both_orders=both_orders, pad_to_multiple_of=multiple
    )
    eager = numbers(preprocessor(PAIR, y=[1.5, 0.0, 3.0], sample_weight=[1.0, 2.0, 3.0]))
    dataset = tf.data.Dataset.from_tensors((PAIR, [1.5, 0.0, 3.0], [1.0, 2.0, 3.0]))
    traced = tf.nest.map_structure(lambda t: t.numpy(), next(iter(dataset.map(preprocessor))))
    tf.nest.map_structure(np.testing.assert_array_equal, eager, traced)
    assert traced[1].tolist() == [[1.5], [0.0], [3.0]]
    assert traced[1].dtype == np.float32


def test_labels_become_numbers_and_single_texts_are_refused(tiny_tokenizer):
    preprocessor = TextSimilarityPreprocessor(tiny_tokenizer, 12, labels=["no", "yes"])
    assert numbers(preprocessor(PAIR, y=["yes", "no", "yes"]))[1].tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="compares two texts. Received: 1 texts"):
        preprocessor(["a film"])


def test_config_round_trip(tiny_tokenizer):
    preprocessor = TextSimilarityPreprocessor(tiny_tokenizer, 12, both_orders=True)
    config = preprocessor.get_config()
    assert (config["sequence_length"], config["both_orders"], config["labels"]) == (12, True, None)
