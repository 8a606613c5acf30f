import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_token_classifier import (
    ENTITIES,
    LABELS,
    TAGS,
    TEXTS,
    WORDS,
    make_tiny_token_classifier,
)


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def losses(task, rows):
    """The loss of each position of windows."""
    with task.without_preprocessor():
        logits = task.predict_on_batch({key: rows.features[key] for key in task.input})
    scores = log_softmax(ops.convert_to_numpy(logits).astype("float64"))
    return -np.take_along_axis(scores, rows.targets[..., None], axis=-1)[..., 0]


def test_the_loss_is_the_mean_over_words_with_their_weights():
    task = make_tiny_token_classifier()
    weight = np.array([1, 2, 0.5, 0, 1.5])
    rows = task.windows(WORDS, TAGS, weight)
    expected = (rows.weights * losses(task, rows)).sum() / rows.weights.sum()
    measured = task.evaluate(
        WORDS, TAGS, sample_weight=weight, batch_size=64, verbose=0, return_dict=True
    )
    assert measured["loss"] == pytest.approx(expected, rel=1e-4)
    assert rows.weights.sum() == pytest.approx(5 + 2 * 5 + 0.5 * 4 + 1.5)


def test_class_weights_are_those_of_the_words_tags():
    class_weight = {"O": 0.25, "B-PER": 3.0}
    task = make_tiny_token_classifier(dropout=0.0)
    task.backbone.trainable = False
    rows = task.windows(WORDS, TAGS)
    of_tag = np.array([0.25, 3, 1, 1, 1])
    weights = rows.weights * of_tag[rows.targets]
    expected = (weights * losses(task, rows)).sum() / weights.sum()
    data = tf.data.Dataset.from_tensors(
        ({"words": tf.ragged.constant(WORDS)}, tf.ragged.constant(TAGS))
    )
    for x, y, size in ((WORDS, TAGS, 64), (data, None, None)):
        task.optimizer.learning_rate = 0
        history = task.fit(x, y, size, class_weight=class_weight, verbose=0).history
        assert history["loss"][0] == pytest.approx(expected, rel=1e-4)
    with pytest.raises(ValueError, match="sample_weight"):
        task.fit(iter(()), class_weight=class_weight)


@pytest.mark.slow
def test_datasets_and_held_out_texts():
    task = make_tiny_token_classifier()
    data = tf.data.Dataset.from_tensors(
        ({"words": tf.ragged.constant(WORDS)}, tf.ragged.constant(TAGS))
    )
    task.preprocessor.pad_to_multiple_of = 4
    history = task.fit(data, validation_data=(TEXTS[:4], ENTITIES[:4]), verbose=0).history
    assert np.isfinite([history["loss"], history["val_loss"]]).all()
    assert {"entity_f1", "val_entity_f1"} <= set(history)
    for x, y in ((TEXTS, ENTITIES), (WORDS, TAGS)):
        history = task.fit(x, y, validation_split=0.4, verbose=0).history
        assert np.isfinite(history["val_loss"]).all()
    history = task.fit(task.windows(WORDS, TAGS), validation_data=task.windows(WORDS, TAGS))
    assert "val_loss" in history.history


def test_ready_batches_are_trimmed_to_their_longest_row():
    task = make_tiny_token_classifier()
    rows = task.windows(WORDS, TAGS)
    task.preprocessor.pad_to_multiple_of = 4
    ready = {key: value[-1:] for key, value in rows.features.items()}
    x, y, weight = task.preprocess_samples(ready, rows.targets[-1:], rows.weights[-1:])
    assert {v.shape for v in (*x.values(), y, weight)} == {(1, 4)}
    (only,) = (task.preprocess_samples(ready),)
    assert only["token_ids"].shape == (1, 4)


def test_what_does_not_fit_is_refused():
    task = make_tiny_token_classifier()
    with pytest.raises(ValueError, match="Training needs texts with tags"):
        task.fit(WORDS)
    with pytest.raises(ValueError, match="Row 1 has a tag that the task does not know"):
        task.fit(WORDS, [TAGS[0], ["B-ORG"] * 5, *TAGS[2:]])
    with pytest.raises(ValueError, match="Row 0: entities overlap"):
        task.windows(TEXTS[:1], [[(2, 5, "PER"), (4, 6, "PER")]])
    banned = make_tiny_token_classifier(crf=True, ban_illegal_moves=True)
    with pytest.raises(ValueError, match="Row 1 begins with what the CRF forbids"):
        banned.fit([["Ada"], ["Ada", "came"]], [["O"], ["I-PER", "O"]])
    with pytest.raises(ValueError, match="`batch_size` must be .* above zero.*batch_size=0"):
        task.tag(WORDS, batch_size=0)
    assert len(LABELS) == 5
