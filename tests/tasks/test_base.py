import warnings

import keras
import keras_nlp
import numpy as np
import pytest
import tensorflow as tf
from batches_of_tasks import crf_tags, masked_words, ready
from keras import ops

import kerazoo
from kerazoo.data.row_order import RowOrder
from kerazoo.optimizers.adamw import create_optimizer

TEXTS = ["a good film", "a very dull film", "not bad", "the play was great", "bad"]
NAMES = ["good", "bad", "mixed", "good", "bad"]
NUMBERS = [1, 0, 2, 1, 0]


@pytest.fixture
def task(make_tiny_text_classifier):
    return make_tiny_text_classifier(dropout=0.0)


def as_dataset(labels, batch_size=5):  # another size takes JAX another compilation
    return tf.data.Dataset.from_tensor_slices((TEXTS, labels)).batch(batch_size)


@pytest.mark.slow_on_jax
def test_fit_takes_lists_arrays_and_datasets(task):
    before = [ops.convert_to_numpy(weight) for weight in task.trainable_weights]
    for x, y in (
        (TEXTS, NAMES),
        (np.array(TEXTS), np.array(NUMBERS)),
        (as_dataset(NAMES), None),
        (as_dataset(NUMBERS), None),
        ({"text": TEXTS}, NAMES),
    ):
        history = task.fit(x, y, verbose=0)
        assert np.isfinite(history.history["loss"]).all()
    moved = [
        np.abs(ops.convert_to_numpy(weight) - old).max()
        for weight, old in zip(task.trainable_weights, before, strict=True)
    ]
    assert min(moved) > 0 or sum(m > 0 for m in moved) >= len(moved) - 2  # unused embedding rows


@pytest.mark.parametrize(("x", "y"), [(TEXTS, None), ([], [])])
def test_training_needs_labelled_texts(tiny_text_classifier, x, y):
    with pytest.raises(ValueError, match="Training needs texts with labels"):
        tiny_text_classifier.fit(x, y)


def test_an_order_is_for_rows_in_memory(tiny_text_classifier):
    with pytest.raises(ValueError, match=r"a dataset has its own.*RowOrder\(seed=3"):
        tiny_text_classifier.fit(as_dataset(NUMBERS), shuffle=RowOrder(3))


@pytest.mark.slow_on_jax
def test_evaluate_is_the_same_in_every_form(task):
    expected = task.evaluate(TEXTS, NAMES, verbose=0)
    assert task.evaluate(TEXTS, NUMBERS, batch_size=2, verbose=0) == pytest.approx(
        expected, abs=1e-5
    )
    assert task.evaluate(as_dataset(NAMES), verbose=0) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("verbose", [0, 1])
def test_a_batch_without_a_row_is_refused(task, verbose):
    with pytest.raises(ValueError, match="A batch needs at least one row.*batch_size=0"):
        task.predict(TEXTS, batch_size=0, verbose=verbose)


@pytest.mark.slow_on_jax
def test_predict_keeps_the_order_and_takes_no_texts(task):
    together = task.predict(TEXTS, batch_size=2, verbose=0)
    alone = np.concatenate([task.predict([text], verbose=0) for text in TEXTS])
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert together.shape == (5, 3)
    assert task.predict([], verbose=0).shape == (0, 3)
    from_dataset = task.predict(tf.data.Dataset.from_tensor_slices(TEXTS).batch(2), verbose=0)
    np.testing.assert_allclose(from_dataset, together, atol=1e-6)


@pytest.mark.slow
def test_pairs_are_remembered(task, tmp_path):
    assert not task.pairs
    task.fit((["good", "dull"], ["great", "bad"]), ["good", "bad"], verbose=0)
    assert task.pairs
    first, second = ["good", "dull film"], ["great", "bad"]
    both = task.predict({"text": first, "text_pair": second}, verbose=0)
    np.testing.assert_allclose(task.predict((first, second), verbose=0), both, atol=1e-6)
    assert np.abs(both - task.predict(first, verbose=0)).max() > 1e-6
    task.save_to_preset(str(tmp_path))
    assert kerazoo.TextClassifier.from_preset(tmp_path).pairs


@pytest.mark.slow
def test_validation_data_and_split(task):
    history = task.fit(TEXTS, NAMES, validation_data=(["dull"], ["bad"]), verbose=0).history
    assert {"val_loss", "val_accuracy"} <= set(history)
    history = task.fit(TEXTS, NAMES, validation_split=0.4, verbose=0).history
    assert "val_loss" in history
    history = task.fit(TEXTS, NAMES, validation_data=as_dataset(NAMES), verbose=0).history
    assert "val_loss" in history


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights(make_tiny_text_classifier):
    def train(seed):
        task = make_tiny_text_classifier()
        keras.utils.set_random_seed(seed)
        task.fit(TEXTS[:4], NAMES[:4], epochs=2, batch_size=2, verbose=0)
        return ops.convert_to_numpy(task.classifier.kernel)

    kernel = train(5)
    np.testing.assert_array_equal(train(5), kernel)
    assert np.abs(train(6) - kernel).max() > 0


@pytest.mark.slow
def test_long_texts_are_said_once(task):
    long = ["good " * 50, *TEXTS[1:]]
    with pytest.warns(UserWarning, match="1 of 5 texts is longer than 9 tokens") as caught:
        task.fit(long, NAMES, epochs=2, verbose=0)
    assert len([w for w in caught if "longer than" in str(w.message)]) == 1
    for use in (task.predict, task.classify):
        with pytest.warns(UserWarning, match="1 of 5 texts"):
            use(long)
    with pytest.warns(UserWarning, match="1 of 5 texts"):
        task.evaluate(long, NAMES, verbose=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        task.fit(TEXTS, NAMES, verbose=0)


@pytest.mark.slow
def test_keras_file_round_trip_goes_on_training(task, tmp_path):
    task.fit(TEXTS, NAMES, verbose=0)
    expected = task.predict(TEXTS, verbose=0)
    task.save(tmp_path / "task.keras")
    copy = keras.saving.load_model(tmp_path / "task.keras")
    np.testing.assert_allclose(copy.predict(TEXTS, verbose=0), expected, atol=1e-6)
    assert int(ops.convert_to_numpy(copy.optimizer.iterations)) == 1
    copy.fit(TEXTS, NAMES, verbose=0)
    assert int(ops.convert_to_numpy(copy.optimizer.iterations)) == 2


@pytest.mark.slow_on_jax
def test_ready_features_without_a_preprocessor(make_tiny_text_classifier):
    task = make_tiny_text_classifier()
    features = task.preprocessor(TEXTS)
    expected = task.predict(TEXTS, verbose=0)
    task.preprocessor = None
    features = {key: ops.convert_to_numpy(value) for key, value in features.items()}
    np.testing.assert_allclose(task.predict(features, verbose=0), expected, atol=1e-6)
    history = task.fit(features, np.array(NUMBERS), verbose=0).history
    assert np.isfinite(history["loss"]).all()


@pytest.mark.slow
def test_any_encoder_of_kerashub_will_do(tiny_tokenizer):
    backbone = keras_nlp.models.DistilBertBackbone(
        vocabulary_size=31,
        num_layers=2,
        num_heads=4,
        hidden_dim=20,
        intermediate_dim=24,
        max_sequence_length=11,
    )
    preprocessor = kerazoo.TextClassifierPreprocessor(tiny_tokenizer, sequence_length=11)
    task = kerazoo.TextClassifier(backbone, num_classes=3, preprocessor=preprocessor)
    assert task.predict(TEXTS, verbose=0).shape == (5, 3)
    assert np.isfinite(task.fit(TEXTS, NUMBERS, verbose=0).history["loss"]).all()


@pytest.mark.slow
@pytest.mark.skipif(keras.config.backend() == "torch", reason="Keras does not do it there.")
@pytest.mark.parametrize("loss", [masked_words, crf_tags])
def test_several_steps_at_a_time_give_the_same(loss):
    results = []
    for steps in (1, 3):
        keras.utils.set_random_seed(3)
        task, x, y, weights = ready(loss, 20)  # seven batches of three, the last one of two
        optimizer = create_optimizer(1e-3, clip_norm=1.0, on_non_finite="skip")
        task.compile(optimizer, steps_per_execution=steps)
        rows = {"sample_weight": weights, "batch_size": 3, "verbose": 0}
        curve = task.fit(x, y, epochs=2, shuffle=False, **rows).history["loss"]
        few = {name: values[:4] for name, values in x.items()}  # fewer batches than three
        rows["sample_weight"] = weights[:4]
        measured = task.evaluate(few, y[:4], return_dict=True, **rows)["loss"]
        one = task.predict({name: values[:2] for name, values in x.items()}, verbose=0)
        whole = task.predict(x, batch_size=3, verbose=0)
        assert (len(one), len(whole)) == (2, 20)
        results.append((curve, measured, np.asarray(one), np.asarray(whole)))
    for single, several in zip(*results, strict=True):
        np.testing.assert_allclose(single, several, rtol=1e-5, atol=1e-6)
