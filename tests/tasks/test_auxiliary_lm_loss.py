import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

import kerazoo
from kerazoo.tasks.auxiliary_lm_loss import next_token_loss

TOKENIZER = tiny_byte_tokenizer()
TEXTS = ["a good film", "dull", "a $ <e>", "the play was great", "b"]
NUMBERS = [1, 0, 1, 1, 0]


def make(length=24, dtype=None, num_layers=2, **arguments):
    preprocessor = kerazoo.TextClassifierPreprocessor(TOKENIZER, sequence_length=length)
    arguments = {"labels": ["bad", "good"], "preprocessor": preprocessor, **arguments}
    backbone = tiny_gpt(num_layers=num_layers, dropout=0.0, attention_dropout=0.0, dtype=dtype)
    return kerazoo.TextClassifier(backbone, **arguments)


def features_of(task, texts=TEXTS):
    features = task.preprocessor(texts)
    return {key: features[key] for key in ("token_ids", "padding_mask")}


def number(tensor):
    return float(ops.convert_to_numpy(tensor))


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def mean_over_texts(task, features, weights):
    """L_PT in NumPy and float64, text by text and token by token."""
    states = task.backbone(features)["sequence_output"]
    logits = ops.convert_to_numpy(task.backbone.next_token_logits(states)).astype("float64")
    ids = ops.convert_to_numpy(features["token_ids"])
    lengths = ops.convert_to_numpy(features["padding_mask"]).sum(-1)
    losses = []
    for row, length in enumerate(lengths):
        scores = log_softmax(logits[row])
        losses.append(-np.mean([scores[at, ids[row, at + 1]] for at in range(length - 1)]))
    return np.average(losses, weights=weights)


@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0, 0.5, 3.0]])
def test_the_loss_is_the_sum_by_hand(weights):
    task = make(lm_loss_weight=0.3)
    features = features_of(task)
    outputs = task(features)
    log_probabilities = log_softmax(ops.convert_to_numpy(outputs["logits"]).astype("float64"))
    finetune = np.average(-log_probabilities[np.arange(5), NUMBERS], weights=weights)
    lm = mean_over_texts(task, features, weights)
    sample_weight = None if weights is None else ops.array(weights, "float32")
    loss = task.compute_loss(features, ops.array(NUMBERS), outputs, sample_weight)
    assert number(loss) == pytest.approx(finetune + 0.3 * lm, rel=1e-6)
    assert number(task.finetune_loss_tracker.result()) == pytest.approx(finetune, rel=1e-6)
    assert number(task.lm_loss_tracker.result()) == pytest.approx(lm, rel=1e-6)
    assert lm > 3  # over 265 tokens, so that a part that is lost shows


def test_padding_is_no_target():
    narrow, wide = make(length=24, lm_loss_weight=1.0), make(length=31, lm_loss_weight=1.0)
    losses = []
    for task in (narrow, wide):
        features = features_of(task)
        losses.append(number(task.compute_loss(features, ops.array(NUMBERS), task(features))))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


@pytest.mark.slow_on_jax
def test_a_text_without_a_next_token_has_no_weight():
    backbone = tiny_gpt(dropout=0.0)
    ids = np.array([[5, 6, 7], [8, 9, 9], [0, 0, 0]], "int32")
    mask = np.array([[1, 1, 1], [1, 0, 0], [0, 0, 0]], "int32")
    states = backbone({"token_ids": ids, "padding_mask": mask})["sequence_output"]
    alone = next_token_loss(backbone, states[:1], ids[:1], mask[:1])
    assert number(next_token_loss(backbone, states, ids, mask)) == pytest.approx(number(alone))
    assert number(next_token_loss(backbone, states[1:], ids[1:], mask[1:])) == 0


@pytest.mark.slow
@pytest.mark.compiled
def test_fit_reports_both_parts_and_they_add_up():
    task = make(num_layers=1)  # None is the paper's 0.5
    history = task.fit(
        TEXTS,
        NUMBERS,
        batch_size=2,  # the last batch is smaller
        validation_data=(TEXTS[:3], NUMBERS[:3]),
        class_weight={"bad": 2.0},
        epochs=2,
        verbose=0,
    ).history
    for prefix in ("", "val_"):
        total, finetune, lm = (
            np.array(history[prefix + name]) for name in ("loss", "finetune_loss", "lm_loss")
        )
        np.testing.assert_allclose(total, finetune + 0.5 * lm, rtol=1e-5)
        assert lm.min() > 1
    assert "val_accuracy" in history
    assert history["lm_loss"][1] < history["lm_loss"][0]


@pytest.mark.slow
def test_zero_is_bit_equal_to_plain_fine_tuning():
    """Against a model that Keras alone builds and trains on the same features."""

    def trained(task):
        features = {k: ops.convert_to_numpy(v) for k, v in features_of(make(length=24)).items()}
        task.compile(
            keras.optimizers.Adam(1e-3),
            keras.losses.SparseCategoricalCrossentropy(
                from_logits=True, reduction="mean_with_sample_weight"
            ),
            # TensorFlow may optimise two graphs differently; they then differ in the last bit.
            run_eagerly=keras.config.backend() == "tensorflow",
        )
        keras.utils.set_random_seed(3)
        data = tf.data.Dataset.from_tensor_slices((features, NUMBERS)).batch(2)
        task.fit(data, shuffle=False, verbose=0)
        return [ops.convert_to_numpy(weight) for weight in task.weights]

    backbone = tiny_gpt(num_layers=1, dropout=0.2)
    own = kerazoo.TextClassifier(backbone, num_classes=2, lm_loss_weight=0, dropout=0.3)
    assert not isinstance(own.output, dict)
    backbone = tiny_gpt(num_layers=1, dropout=0.2)
    pooled = backbone(backbone.input)["pooled_output"]
    # In the task's order, since each layer draws its seed when it is made.
    dropout = keras.layers.Dropout(0.3)
    dense = keras.layers.Dense(
        2, kernel_initializer=keras.initializers.TruncatedNormal(stddev=0.02)
    )
    plain = keras.Model(backbone.input, dense(dropout(pooled)))
    for ours, theirs in zip(trained(own), trained(plain), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.slow
@pytest.mark.compiled
def test_predicting_gives_plain_logits_and_no_token_logits(monkeypatch):
    task = make(lm_loss_weight=0.5)
    task.predict(TEXTS[:1], verbose=0)
    expected = ops.convert_to_numpy(task(features_of(task))["logits"])

    def fail(*_):
        raise AssertionError("the logits of the next tokens were computed")

    monkeypatch.setattr(type(task.backbone), "next_token_logits", fail)
    np.testing.assert_allclose(task.predict(TEXTS, verbose=0), expected, atol=1e-5)
    np.testing.assert_allclose(task.predict_on_batch(TEXTS), expected, atol=1e-5)
    assert task.predict([]).shape == (0, 2)
    assert [set(row["probabilities"]) for row in task.classify(TEXTS[:2])] == [{"bad", "good"}] * 2


@pytest.mark.tensorflow
def test_a_served_graph_has_the_answers_of_classify_and_no_token_logits():
    task = make(lm_loss_weight=0.5)
    signature = task.serving_signatures()["serving_default"]
    graph = tf.function(lambda text: signature.function(text=text)).get_concrete_function(
        *signature.inputs
    )
    answers = graph(tf.constant(TEXTS))
    scores = [row["score"] for row in task.classify(TEXTS)]
    np.testing.assert_allclose(answers["score"], scores, atol=1e-5)
    shapes = [out.shape for op in graph.graph.get_operations() for out in op.outputs]
    assert not [shape for shape in shapes if shape.rank and shape[-1] == 265]


def test_the_loss_is_float32_in_half_precision():
    task = make(lm_loss_weight=0.5, dtype="mixed_bfloat16")
    features = features_of(task)
    outputs = task(features)
    assert ops.dtype(outputs["sequence_output"]) == "bfloat16"
    loss = task.compute_loss(features, ops.array(NUMBERS), outputs)
    assert ops.dtype(loss) == "float32"
    exact = make(lm_loss_weight=0.5)
    expected = exact.compute_loss(features, ops.array(NUMBERS), exact(features))
    assert number(loss) == pytest.approx(number(expected), rel=0.02)


def test_the_weight_is_checked(make_tiny_text_classifier):
    assert make().lm_loss_weight == 0.5
    assert make(freeze_backbone=True).lm_loss_weight == 0
    assert make_tiny_text_classifier().lm_loss_weight == 0
    assert make_tiny_text_classifier(lm_loss_weight=0).lm_loss_weight == 0
    with pytest.raises(ValueError, match="BertBackbone does not. Received: lm_loss_weight=0.5"):
        make_tiny_text_classifier(lm_loss_weight=0.5)
    with pytest.raises(ValueError, match="A frozen backbone cannot learn"):
        make(freeze_backbone=True, lm_loss_weight=0.5)
    for wrong in (-0.1, "much", True, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="must be a number of at least 0"):
            make(lm_loss_weight=wrong)


def test_the_weight_is_remembered_as_given(tmp_path):
    make(lm_loss_weight=0.25).save_to_preset(tmp_path / "a")
    assert kerazoo.TextClassifier.from_preset(tmp_path / "a").lm_loss_weight == 0.25
    make().save_to_preset(tmp_path / "b")
    frozen = kerazoo.TextClassifier.from_preset(tmp_path / "b", freeze_backbone=True)
    assert frozen.lm_loss_weight == 0


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.compiled
def test_two_replicas_give_the_loss_of_one(mirrored_strategy):
    def history(strategy):
        with strategy.scope():
            task = make(lm_loss_weight=0.5, num_layers=1)
            task.compile(keras.optimizers.SGD(0.1))
        features = {k: v.numpy() for k, v in features_of(task, TEXTS[:4]).items()}
        data = tf.data.Dataset.from_tensor_slices((TEXTS[:4], NUMBERS[:4])).batch(4)
        logs = task.fit(data, epochs=2, verbose=0).history
        return logs, ops.convert_to_numpy(task(features)["logits"])

    one, alone = history(tf.distribute.get_strategy())
    two, together = history(mirrored_strategy)
    for name in ("loss", "finetune_loss", "lm_loss"):
        np.testing.assert_allclose(two[name], one[name], rtol=1e-5)
    np.testing.assert_allclose(together, alone, atol=1e-5)
