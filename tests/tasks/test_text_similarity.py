import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

import kerazoo

TOKENIZER = tiny_byte_tokenizer()
A = ["a good film", "dull", "a $ <e>"]
B = ["the play", "not bad at all", "x"]


def make(num_layers=2, **arguments):
    preprocessor = kerazoo.TextSimilarityPreprocessor(TOKENIZER, sequence_length=30)
    backbone = tiny_gpt(num_layers=num_layers)
    return kerazoo.TextSimilarity(backbone, preprocessor=preprocessor, **arguments)


@pytest.mark.slow
def test_the_states_of_both_orders_are_added():
    task = make(num_classes=3, lm_loss_weight=0)
    one = kerazoo.TextClassifierPreprocessor(TOKENIZER, sequence_length=30)
    pooled = []
    for pair in ((A, B), (B, A)):
        features = {key: one(pair)[key] for key in task.backbone.input}
        pooled.append(ops.convert_to_numpy(task.backbone(features)["pooled_output"]))
    assert np.abs(pooled[0] - pooled[1]).max() > 0.1
    kernel, bias = (ops.convert_to_numpy(weight) for weight in task.classifier.weights)
    logits = task.predict((A, B), verbose=0)
    np.testing.assert_allclose(logits, (pooled[0] + pooled[1]) @ kernel + bias, atol=1e-5)
    np.testing.assert_allclose(task.predict((B, A), verbose=0), logits, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.5]])
def test_a_regression_has_the_squared_error_and_plain_scores(weights):
    task = make(lm_loss_weight=0)
    targets = [1.5, -2.0, 0.25]
    scores = task.predict((A, B), verbose=0)
    assert scores.shape == task.predict_on_batch((A, B)).shape == (3,)
    assert task.predict(([], [])).shape == (0,)
    assert task.compare((A, B)) == [{"score": pytest.approx(float(s), abs=1e-5)} for s in scores]
    data = (A, B), targets
    loss = task.evaluate(*data, sample_weight=weights, verbose=0, return_dict=True)["loss"]
    expected = np.average((scores - np.array(targets)) ** 2, weights=weights)
    assert loss == pytest.approx(expected, rel=1e-5)


@pytest.mark.slow
@pytest.mark.compiled
def test_classes_are_learnt_with_the_language_modelling_loss():
    task = make(labels=["other", "same"], num_layers=1)
    task.compile(keras.optimizers.Adam(3e-2))
    history = task.fit((A, B), ["same", "other", "same"], epochs=6, verbose=0).history
    for before, *_, after in (history["finetune_loss"], history["lm_loss"]):
        assert after < before
    answers = task.compare((A, B))
    assert [answer["label"] for answer in answers] == ["same", "other", "same"]
    assert set(answers[0]["probabilities"]) == {"other", "same"}


def test_bert_reads_one_order(make_tiny_backbone, tiny_tokenizer):
    def build(**arguments):
        preprocessor = kerazoo.TextSimilarityPreprocessor(tiny_tokenizer, sequence_length=11)
        backbone = make_tiny_backbone(initializer_range=0.3)
        return kerazoo.TextSimilarity(backbone, preprocessor=preprocessor, **arguments)

    task = build()
    assert not task.both_orders
    pairs = (["good film", "bad"], ["dull", "not bad"])
    forth, back = task.predict_on_batch(pairs), task.predict_on_batch(pairs[::-1])
    assert np.abs(forth - back).max() > 1e-3
    both = build(both_orders=True)
    forth, back = both.predict_on_batch(pairs), both.predict_on_batch(pairs[::-1])
    np.testing.assert_allclose(forth, back, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "targets"),
    [(["entailment", "neutral"], ["neutral", "entailment", "neutral"]), (None, [0.5, 3.75, 1.0])],
)
def test_bert_learns_entailment_or_scores(make_tiny_backbone, tiny_tokenizer, labels, targets):
    preprocessor = kerazoo.TextSimilarityPreprocessor(tiny_tokenizer, sequence_length=11)
    task = kerazoo.TextSimilarity(make_tiny_backbone(), labels, preprocessor=preprocessor)
    task.compile(optimizer=keras.optimizers.Adam(1e-2))
    pairs = (["good film", "bad", "dull play"], ["dull", "not bad", "good"])
    history = task.fit(pairs, targets, epochs=12, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] / 2
    found = task.compare(pairs)
    if labels is None:
        assert [set(answer) for answer in found] == [{"score"}] * 3
    else:
        assert [answer["label"] for answer in found] == targets


@pytest.mark.slow
def test_preset_round_trip_and_another_head(tmp_path):
    task = make()
    expected = task.predict((A, B), verbose=0)
    task.save_to_preset(tmp_path)
    copy = kerazoo.TextSimilarity.from_preset(tmp_path)
    np.testing.assert_allclose(copy.predict((A, B), verbose=0), expected, atol=1e-6)
    assert (copy.both_orders, copy.labels, copy.lm_loss_weight) == (True, [], 0.5)
    other = kerazoo.TextSimilarity.from_preset(tmp_path, labels=["x", "y"], both_orders=False)
    assert other.predict((A, B), verbose=0).shape == (3, 2)


def test_what_is_no_pair_or_no_score_is_refused():
    task = make(lm_loss_weight=0)
    for use in (task.predict, task.compare):
        with pytest.raises(ValueError, match=r"compares two texts.*Received: keys=\['text'\]"):
            use(A)
    for wrong, message in (
        (["same"] * 3, "Scores must be numbers"),
        ([1.0, float("nan"), 2.0], "Row 1 has no finite score"),
        ([1.0], r"y of shape \(1,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            task.fit((A, B), wrong)
    with pytest.raises(ValueError, match="no classes to weigh"):
        task.fit((A, B), [1.0, 2.0, 3.0], class_weight={0: 1.0})
    with pytest.raises(TypeError, match=r"task\.backbone\.export_to_transformers"):
        task.export_to_transformers("somewhere")


@pytest.mark.tensorflow
@pytest.mark.parametrize("labels", [None, ["other", "same"]])
def test_served_answers_equal_compare(labels):
    task = make(labels=labels)
    expected = [answer["score"] for answer in task.compare((A, B))]
    signatures = task.serving_signatures()
    signature = signatures["serving_default"]
    answers = signature.function(text=tf.constant(A), text_pair=tf.constant(B))
    np.testing.assert_allclose(answers["score"], expected, atol=1e-5)
    names = {"score"} if labels is None else {"label", "score", "probabilities", "labels"}
    assert set(answers) == names
    features = signatures["features"]
    assert [tuple(spec.shape) for spec in features.inputs] == [(None, 2, None)] * 2
    answer = features.function(**{k: tf.constant(v) for k, v in features.example.items()})
    assert answer["score"].shape == (1,)
