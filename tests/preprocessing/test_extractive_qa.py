import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_extractive_qa import ROWS, answers, questions, tiny_tokenizer

from kerazoo import ExtractiveQAPreprocessor

ANSWERS = {
    "answer": ["" if a is None else a[0] for a in answers()],
    "answer_start": [-1 if a is None else a[1] for a in answers()],
}


def preprocessor(**options):
    return ExtractiveQAPreprocessor(
        tiny_tokenizer(), **{"sequence_length": 16, "stride": 5, **options}
    )


def as_arrays(value):
    return tf.nest.map_structure(lambda v: np.asarray(ops.convert_to_numpy(v)), value)


def test_eagerly_and_in_tf_data_it_is_the_same():
    layer = preprocessor()
    weights = np.arange(1, 7, dtype="float32")
    eager = as_arrays(layer(questions(), ANSWERS, weights))
    dataset = (
        tf.data.Dataset.from_tensor_slices((questions(), ANSWERS, weights)).batch(6).map(layer)
    )
    traced = as_arrays(next(iter(dataset)))
    tf.nest.map_structure(np.testing.assert_array_equal, eager, traced)
    features, targets, sample_weights = eager
    assert set(features) == {"token_ids", "segment_ids", "padding_mask", "answer_mask"}
    assert {value.shape for value in features.values()} == {(len(targets["start_logits"]), 16)}
    assert all(value.dtype == np.int32 for value in [*features.values(), *targets.values()])
    documents = layer.read(*questions().values(), None).windows.document.numpy()
    np.testing.assert_array_equal(sample_weights["end_logits"], weights[documents])


def test_without_answers_there_are_features_alone():
    features = preprocessor(pad_to_multiple_of=4)({"question": ["who"], "context": ["ada came"]})
    assert features["token_ids"].shape == (1, 8)


def test_what_does_not_fit_is_refused():
    layer = preprocessor()
    with pytest.raises(ValueError, match="reads the keys 'question' and 'context'.*text"):
        layer({"text": ["a"]})
    with pytest.raises(ValueError, match="come under the keys 'answer' and 'answer_start'"):
        layer({"question": ["a"], "context": ["a"]}, [0])
    with pytest.raises(ValueError, match="one axis"):
        layer({"question": [["a"]], "context": [["a"]]})
    with pytest.raises(tf.errors.InvalidArgumentError, match="no room for its passage"):
        layer({"question": ["who " * 13], "context": ["a"]})
    wrong = {"answer": ["Ada"], "answer_start": [0]}
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice of its context"):
        layer(questions(ROWS[:1]), wrong)
    with pytest.raises(ValueError, match="stride=13"):
        preprocessor(stride=13)


def test_it_is_saved_with_its_options(tmp_path):
    layer = preprocessor(null_at_end=True)
    layer.save_to_preset(str(tmp_path))
    config = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert (config.sequence_length, config.stride, config.null_at_end) == (16, 5, True)
    assert layer.longest_question == 12
    assert layer.question_lengths(["who came", ""]).numpy().tolist() == [2, 0]
    assert layer.count_truncated(questions()) == 0
