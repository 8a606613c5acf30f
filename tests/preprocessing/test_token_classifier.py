import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_extractive_qa import tiny_tokenizer
from tiny_token_classifier import ENTITIES, LABELS, TAGS, TEXTS, WORDS

from kerazoo import TokenClassifierPreprocessor


def make(**arguments):
    return TokenClassifierPreprocessor(
        tiny_tokenizer(), **{"sequence_length": 13, "stride": 4, "labels": LABELS, **arguments}
    )


def spans():
    columns = [[[entity[i] for entity in row] for row in ENTITIES] for i in range(3)]
    return {
        "starts": tf.ragged.constant(columns[0], tf.int32),
        "ends": tf.ragged.constant(columns[1], tf.int32),
        "types": tf.ragged.constant(columns[2], tf.string),
    }


WORD_BATCH = ({"words": tf.ragged.constant(WORDS)}, tf.ragged.constant(TAGS))


@pytest.mark.parametrize("form", ["words", "texts"])
def test_eager_and_dataset_agree(form):
    layer = make(pad_to_multiple_of=4)
    x, y = WORD_BATCH if form == "words" else ({"text": tf.constant(TEXTS)}, spans())
    weight = tf.range(1.0, len(TEXTS) + 1)[: len(WORDS) if form == "words" else len(TEXTS)]
    eager = layer(x, y, weight)
    data = tf.data.Dataset.from_tensors((x, y, weight)).map(layer.preprocess)
    (in_graph,) = list(data)
    for found, expected in zip(tf.nest.flatten(in_graph), tf.nest.flatten(eager), strict=True):
        np.testing.assert_array_equal(found, ops.convert_to_numpy(expected))
    features, targets, weights = eager
    assert targets.shape == weights.shape == features["token_ids"].shape
    assert set(np.unique(ops.convert_to_numpy(weights))) <= {0, 1, 2, 3, 4, 5, 6}
    assert make()(x, y)[1].shape[1] == 13


def test_numbers_are_tags_too_and_words_may_be_dense():
    layer = make()
    as_numbers = tf.ragged.constant([[LABELS.index(t) for t in row] for row in TAGS])
    for found, expected in zip(
        layer(WORD_BATCH[0], as_numbers)[1:], layer(*WORD_BATCH)[1:], strict=True
    ):
        np.testing.assert_array_equal(*map(ops.convert_to_numpy, (found, expected)))
    _, targets, _ = layer({"words": [["Ada", "came"]]}, [["B-PER", "O"]])
    assert ops.convert_to_numpy(targets)[0, :3].tolist() == [0, 1, 0]
    assert set(layer(["Ada"])) == {"token_ids", "segment_ids", "padding_mask"}
    assert layer.count_truncated(["Ada " * 99]) == 0


def test_wrong_input_is_refused():
    layer = make()
    for tags in ([["B-ORG", "O"]], [["B-PER"]], [[9, 0]]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            layer({"words": [["Ada", "came"]]}, tf.ragged.constant(tags))
    with pytest.raises(ValueError, match="pairs of texts"):
        layer({"text": ["a"], "text_pair": ["b"]})
    with pytest.raises(ValueError, match="stride=12"):
        make(stride=12)
    with pytest.raises(ValueError, match="need the tag O and for each type"):
        make(labels=["O", "B-PER", "B-LOC", "I-LOC"])({"text": TEXTS}, spans())


def test_config_round_trip():
    layer = make(label_all_pieces=True, word_separator="")
    config = layer.get_config()
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert {k: v for k, v in copy.get_config().items() if k != "tokenizer"} == {
        k: v for k, v in config.items() if k != "tokenizer"
    }
    assert (copy.label_all_pieces, copy.word_separator, copy.labels) == (True, "", LABELS)
