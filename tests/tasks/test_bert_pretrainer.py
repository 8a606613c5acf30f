import keras_nlp
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import kerazoo

FIRST = ["a good film", "the play was dull!", "bad", "电影 好", "is it a great play?"]
SECOND = ["very good.", "the film", "not bad", "影 差", "it was"]
NAMES = ["next", "random", "next", "next", "random"]
OUTPUTS = ("masked_lm", "next_sentence")


@pytest.fixture(scope="module")
def task(make_tiny_bert_pretrainer):
    return make_tiny_bert_pretrainer()


@pytest.fixture(scope="module")
def ready(task):
    """Features, targets and weights of the pairs as arrays."""
    made = task.preprocessor((FIRST, SECOND), y=NAMES, mask_seed=4)
    features, targets, weights = (
        {key: ops.convert_to_numpy(value) for key, value in part.items()} for part in made
    )
    return {key: features[key] for key in task.input}, targets, weights


def cross_entropies(logits, numbers):
    shifted = logits - logits.max(-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return -np.take_along_axis(log_probabilities, numbers[..., None], -1)[..., 0]


def test_the_loss_is_the_sum_of_two_weighted_means(task, ready):
    features, targets, weights = ready
    weights = {
        "masked_lm": weights["masked_lm"] * np.array([1, 0, 2, 1, 0.5], "float32")[:, None],
        "next_sentence": np.array([1, 0, 2, 0, 3], "float32"),
    }
    with task.without_preprocessor():
        logits = task.predict(features, verbose=0)
        measured = task.evaluate(
            features, targets, sample_weight=weights, verbose=0, return_dict=True
        )
    assert logits["next_sentence"].shape == (5, 2)
    expected = {}
    for key in OUTPUTS:
        losses = cross_entropies(logits[key], targets[key])
        expected[f"{key}_loss"] = (weights[key] * losses).sum() / weights[key].sum()
        right = logits[key].argmax(-1) == targets[key]
        expected[f"{key}_accuracy"] = (weights[key] * right).sum() / weights[key].sum()
    expected["loss"] = sum(expected[f"{key}_loss"] for key in OUTPUTS)
    assert measured == pytest.approx(expected, rel=1e-5)


def test_heads_are_those_of_the_two_tasks(task, ready):
    features, _, _ = ready
    with task.without_preprocessor():
        logits = task.predict(features, verbose=0)
    outputs = task.backbone({key: features[key] for key in task.backbone.input})
    pooled = ops.convert_to_numpy(outputs["pooled_output"])
    kernel, bias = (ops.convert_to_numpy(w) for w in task.next_sentence_head.weights)
    np.testing.assert_allclose(logits["next_sentence"], pooled @ kernel + bias, atol=1e-5)
    masked = task.masked_lm_head(outputs["sequence_output"], features["mask_positions"])
    np.testing.assert_allclose(logits["masked_lm"], ops.convert_to_numpy(masked), atol=1e-5)
    assert all(value.dtype == np.float32 for value in logits.values())


@pytest.mark.slow
def test_fit_on_raw_pairs(make_tiny_bert_pretrainer):
    task = make_tiny_bert_pretrainer()
    assert isinstance(task, keras_nlp.models.MaskedLM)
    pairs = (FIRST, SECOND)
    history = task.fit(pairs, NAMES, validation_data=(pairs, NAMES), verbose=0).history
    assert set(history) == {
        f"{prefix}{name}"
        for prefix in ("", "val_")
        for name in ("loss", *(f"{key}_{kind}" for key in OUTPUTS for kind in ("loss", "accuracy")))
    }


@pytest.mark.tensorflow  # fit compiles anew on JAX
def test_fit_on_ready_features(make_tiny_bert_pretrainer, ready):
    task = make_tiny_bert_pretrainer()
    features, targets, weights = ready
    dataset = tf.data.Dataset.from_tensor_slices((features, targets, weights)).batch(2)
    task.preprocessor = None
    for arguments in ((dataset,), (features, targets)):
        history = task.fit(*arguments, verbose=0).history
        assert np.isfinite(history["loss"]).all()


@pytest.mark.slow
def test_numbers_are_labels_too_and_weights_count(task):
    pairs = (FIRST, SECOND)
    named, weighted = (
        task.evaluate(pairs, labels, sample_weight=weights, verbose=0, return_dict=True)
        for labels, weights in (
            (NAMES, None),
            ([0, 1, 0, 0, 1], np.array([1, 1, 1, 0, 0], "float32")),
        )
    )
    assert abs(named["next_sentence_loss"] - weighted["next_sentence_loss"]) > 1e-4
    assert abs(named["masked_lm_loss"] - weighted["masked_lm_loss"]) > 1e-4
    np.testing.assert_array_equal(task.raw_labels(NAMES, 5), task.raw_labels([0, 1, 0, 0, 1], 5))


def test_masks_of_texts_are_filled_too(task):
    (mask,) = task.fill_mask("a [MASK] film", top_k=3)
    assert [candidate["position"] for candidate in mask] == [2, 2, 2]


def test_a_preset_keeps_both_heads(make_tiny_bert_pretrainer, ready, tmp_path):
    task = make_tiny_bert_pretrainer()
    task.save_to_preset(tmp_path)
    copy = kerazoo.BertPretrainer.from_preset(tmp_path)
    features, _, _ = ready
    outputs = []
    for model in (task, copy):
        with model.without_preprocessor():
            outputs.append(model.predict(features, verbose=0))
    for key in OUTPUTS:
        np.testing.assert_allclose(outputs[0][key], outputs[1][key], atol=1e-6)
    assert copy.preprocessor.masker.mask_selection_rate == 0.3


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (FIRST, NAMES, r"reads pairs.*keys=\['text'\]"),
        ((FIRST, SECOND), None, "needs texts with labels"),
        ((FIRST, SECOND), ["next"] * 4 + ["maybe"], "it knows next, random.*'maybe'"),
        ((FIRST, SECOND), [0, 1, 2, 0, 1], "outside 0 to 1.*y=2"),
    ],
)
def test_wrong_rows_are_told(task, x, y, message):
    with pytest.raises(ValueError, match=message):
        task.fit(x, y)


def test_a_backbone_without_a_pooled_vector_is_refused(make_tiny_gpt):
    backbone = keras_nlp.models.DistilBertBackbone(
        vocabulary_size=31, num_layers=1, num_heads=2, hidden_dim=12, intermediate_dim=14
    )
    with pytest.raises(ValueError, match="pooled .* backbone=DistilBertBackbone"):
        kerazoo.BertPretrainer(backbone)
    with pytest.raises(ValueError, match="in both directions"):
        kerazoo.BertPretrainer(make_tiny_gpt())
