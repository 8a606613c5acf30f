import numpy as np
import pytest
import tensorflow as tf

from kerazoo.export.verification_report import Status
from kerazoo.export.weights import check_weights, duplicate_weights

X = tf.TensorSpec([None, 31], name="x")


def test_weights_written_once_pass(text_classifier_dir):
    assert duplicate_weights(text_classifier_dir) == []
    check = check_weights(text_classifier_dir)
    assert check.status is Status.OK
    assert check.message.startswith("Each weight is written once (")


@pytest.mark.slow
def test_the_export_of_keras_writes_weights_twice(keras_models_dir):
    version_dir = keras_models_dir / "exported" / "1"
    groups = duplicate_weights(version_dir)
    assert [len(group) for group in groups] == [2]  # the kernel of 31 × 37; the rest is smaller
    check = check_weights(version_dir)
    assert check.status is Status.WARNING
    assert f"{31 * 37 * 4:,} of " in check.message
    assert "Do not track the model" in check.message


def test_equal_zeros_and_small_arrays_are_no_duplicates(save_model):
    small = np.arange(1000, dtype=np.float32)
    variables = [tf.Variable(tf.zeros([31, 37])), tf.Variable(tf.zeros([31, 37]))]
    variables += [tf.Variable(small), tf.Variable(small)]
    version_dir = save_model(lambda x: {"y": x @ variables[0]}, X, variables=variables)
    assert duplicate_weights(version_dir) == []


def test_equal_values_in_another_shape_or_type_are_no_duplicates(save_model):
    values = np.arange(31 * 37).reshape(31, 37)
    variables = [tf.Variable(values.astype(np.float32)), tf.Variable(values.astype(np.float64))]
    variables += [tf.Variable(values.reshape(37, 31).astype(np.float32))]
    version_dir = save_model(lambda x: {"y": x @ variables[0]}, X, variables=variables)
    assert duplicate_weights(version_dir) == []


def test_a_model_without_weights_passes(save_model):
    version_dir = save_model(lambda x: {"y": x * 2}, X)
    for file in (version_dir / "variables").iterdir():
        file.unlink()
    assert check_weights(version_dir).message == "The model has no variables."


def test_a_missing_part_of_the_weights_is_a_fault(copy_of_text_classifier):
    (copy_of_text_classifier / "variables" / "variables.data-00000-of-00001").unlink()
    check = check_weights(copy_of_text_classifier)
    assert check.status is Status.FAILED
    assert "The files under variables/ cannot be read; export again." in check.message
