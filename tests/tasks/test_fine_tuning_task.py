import keras
import numpy as np
import pytest
from keras import ops
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

import kerazoo

TEXTS = ["a good film", "dull", "a $ <e>"]


def make(**arguments):
    preprocessor = kerazoo.TextClassifierPreprocessor(tiny_byte_tokenizer(), sequence_length=20)
    arguments = {"labels": ["bad", "good"], "preprocessor": preprocessor, **arguments}
    return kerazoo.TextClassifier(tiny_gpt(), **arguments)


@pytest.mark.slow
@pytest.mark.parametrize("pooling", ["pooled", "mean"])
def test_the_head_reads_the_last_token_or_the_mean(pooling):
    task = make(pooling=pooling)
    features = task.preprocessor(TEXTS)
    features = {key: features[key] for key in task.backbone.input}
    states = ops.convert_to_numpy(task.backbone(features)["sequence_output"])
    lengths = ops.convert_to_numpy(features["padding_mask"]).sum(1)
    if pooling == "mean":
        vectors = np.stack([s[:n].mean(0) for s, n in zip(states, lengths, strict=True)])
    else:
        vectors = states[np.arange(3), lengths - 1]
        last = ops.convert_to_numpy(features["token_ids"])[np.arange(3), lengths - 1]
        assert (last == task.preprocessor.tokenizer.extract_token_id).all()
    kernel, bias = (ops.convert_to_numpy(weight) for weight in task.classifier.weights)
    expected = vectors @ kernel + bias
    np.testing.assert_allclose(task.predict(TEXTS, verbose=0), expected, atol=1e-5)


def test_the_head_starts_small_and_copies_the_dropout():
    task = make()
    assert task.dropout == task.backbone.config.dropout == 0.1
    kernel = ops.convert_to_numpy(task.classifier.kernel)
    assert 0 < np.abs(kernel).max() < 0.05  # truncated normal, 0.02
    assert make(dropout=0.35).dropout_layer.rate == 0.35


def test_arguments_are_checked():
    with pytest.raises(TypeError, match="Received: labelz"):
        make(labelz=["a"])
    with pytest.raises(ValueError, match="Received: dropout=1"):
        make(dropout=1)
    with pytest.raises(ValueError, match="expects probabilities"):
        make().compile(loss="sparse_categorical_crossentropy")


@pytest.mark.slow
def test_a_keras_file_goes_on_training(tmp_path):
    task = make()
    task.compile(keras.optimizers.Adam(1e-3), jit_compile=False)
    task.fit(TEXTS, [1, 0, 1], verbose=0)
    task.save(tmp_path / "task.keras")
    copy = keras.saving.load_model(tmp_path / "task.keras")
    np.testing.assert_allclose(
        copy.predict(TEXTS, verbose=0), task.predict(TEXTS, verbose=0), atol=1e-6
    )
    assert int(ops.convert_to_numpy(copy.optimizer.iterations)) == 1
    assert copy.lm_loss_weight == 0.5


def test_a_head_of_other_labels_is_not_read(tmp_path):
    task = make()
    saved = task.get_config()
    assert type(task).same_head(saved, task)
    assert not type(task).same_head({**saved, "labels": ["x", "y"]}, task)
    assert not type(task).same_head({**saved, "pooling": "mean"}, task)
    assert not type(task).same_head({}, task)
    assert type(task).merge_config(saved, {"num_classes": 4})["num_classes"] == 4
    assert "labels" not in type(task).merge_config(saved, {"num_classes": 4})
