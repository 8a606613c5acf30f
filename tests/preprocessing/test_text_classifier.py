import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.preprocessing.text_classifier import TextClassifierPreprocessor

LABELS = ["bad", "good"]
# [CLS] a good film [SEP] against the tiny vocabulary of tests/conftest.py.
CLS, SEP, PAD, A, FILM, GOOD, DULL = 1, 2, 3, 6, 7, 10, 16


@pytest.fixture
def preprocessor(tiny_tokenizer):
    return TextClassifierPreprocessor(tiny_tokenizer, sequence_length=8, labels=LABELS)


def numbers(structure):
    return tf.nest.map_structure(lambda t: np.asarray(keras.ops.convert_to_numpy(t)), structure)


def test_single_texts(preprocessor):
    features = numbers(preprocessor(["A good film", ""]))
    assert features["token_ids"].tolist() == [
        [CLS, A, GOOD, FILM, SEP, PAD, PAD, PAD],
        [CLS, SEP, PAD, PAD, PAD, PAD, PAD, PAD],
    ]
    assert features["padding_mask"].tolist() == [[1] * 5 + [0] * 3, [1] * 2 + [0] * 6]
    assert features["segment_ids"].sum() == 0
    assert {value.dtype for value in features.values()} == {np.dtype("int32")}


@pytest.mark.parametrize("form", [tuple, lambda pair: dict(text=pair[0], text_pair=pair[1])])
def test_pairs(preprocessor, form):
    features = numbers(preprocessor(form((["good film"], ["dull"]))))
    assert features["token_ids"].tolist() == [[CLS, GOOD, FILM, SEP, DULL, SEP, PAD, PAD]]
    assert features["segment_ids"].tolist() == [[0, 0, 0, 0, 1, 1, 0, 0]]


@pytest.mark.parametrize("multiple", [None, 4])
def test_the_same_eagerly_and_in_a_dataset(tiny_tokenizer, multiple):
    preprocessor = TextClassifierPreprocessor(
        tiny_tokenizer, sequence_length=8, labels=LABELS, pad_to_multiple_of=multiple
    )
    texts, labels = (
        ["a good film", "dull", "the film was very very very very dull"],
        LABELS + ["bad"],
    )
    eager = numbers(preprocessor(texts, y=labels, sample_weight=[1.0, 2.0, 3.0]))
    dataset = tf.data.Dataset.from_tensors((texts, labels, [1.0, 2.0, 3.0])).map(preprocessor)
    traced = tf.nest.map_structure(lambda t: t.numpy(), next(iter(dataset)))
    tf.nest.map_structure(np.testing.assert_array_equal, eager, traced)
    assert traced[1].tolist() == [0, 1, 0]
    assert traced[0]["token_ids"].shape == (3, 8)


def test_long_texts_keep_their_end_token(preprocessor):
    for length in (7, 8, 100):
        row = numbers(preprocessor(["good " * length]))["token_ids"][0]
        assert row.tolist() == [CLS] + [GOOD] * 6 + [SEP]


def test_truncated_texts_are_counted(preprocessor):
    texts = ["good " * 6, "good " * 7, "", "good " * 99]
    assert preprocessor.count_truncated(texts) == 2
    assert preprocessor.count_truncated(texts, batch_size=3) == 2
    pairs = (["good " * 2, "good " * 3], ["dull " * 3, "dull " * 3])
    assert preprocessor.count_truncated(pairs) == 1
    assert preprocessor.count_truncated([]) == 0


def test_config_round_trip(preprocessor, tiny_vocabulary):
    config = keras.saving.serialize_keras_object(preprocessor)
    copy = keras.saving.deserialize_keras_object(config)
    copy.tokenizer.set_vocabulary(tiny_vocabulary)
    assert copy.sequence_length == 8
    assert copy.labels == LABELS
    np.testing.assert_array_equal(
        numbers(copy(["good"]))["token_ids"], numbers(preprocessor(["good"]))["token_ids"]
    )


@pytest.mark.parametrize("name", ["sequence_length", "pad_to_multiple_of"])
def test_sizes_must_be_positive(tiny_tokenizer, name):
    with pytest.raises(ValueError, match=f"Received: {name}=0"):
        TextClassifierPreprocessor(tiny_tokenizer, **{name: 0})


def test_rows_have_room_for_a_token(tiny_tokenizer):
    with pytest.raises(ValueError, match="room beside 2 special tokens.*sequence_length=2"):
        TextClassifierPreprocessor(tiny_tokenizer, sequence_length=2)
