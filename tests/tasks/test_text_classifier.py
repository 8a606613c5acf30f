import keras
import keras_nlp
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import kerazoo

TEXTS = ["a good film", "a very dull film", "not bad", "the play was great", "bad"]
NAMES = ["good", "bad", "mixed", "good", "bad"]


def test_is_kerashubs_text_classifier_too(tiny_text_classifier):
    assert isinstance(tiny_text_classifier, keras_nlp.models.TextClassifier)


def test_logits_are_a_dense_layer_on_the_pooled_vector(tiny_text_classifier):
    task = tiny_text_classifier
    features = {k: ops.convert_to_tensor(v) for k, v in task.preprocessor(TEXTS).items()}
    pooled = ops.convert_to_numpy(task.backbone(features)["pooled_output"])
    kernel, bias = (ops.convert_to_numpy(w) for w in task.classifier.weights)
    logits = task.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(logits, pooled @ kernel + bias, atol=1e-5)
    assert logits.dtype == np.float32


@pytest.mark.slow_on_jax
def test_classify_gives_names_and_probabilities(tiny_text_classifier):
    logits = tiny_text_classifier.predict(TEXTS, verbose=0)
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    answers = tiny_text_classifier.classify(TEXTS, batch_size=2)
    for answer, row in zip(answers, expected, strict=True):
        assert answer["label"] == ["bad", "good", "mixed"][row.argmax()]
        assert answer["score"] == pytest.approx(row.max(), abs=1e-5)
        assert list(answer["probabilities"]) == ["bad", "good", "mixed"]
        np.testing.assert_allclose(list(answer["probabilities"].values()), row, atol=1e-5)
    assert tiny_text_classifier.classify([]) == []


@pytest.mark.slow
def test_softmax_by_option(make_tiny_text_classifier):
    task = make_tiny_text_classifier(activation="softmax")
    probabilities = task.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(probabilities.sum(-1), 1, atol=1e-5)
    assert task.classify(TEXTS[:1])[0]["score"] == pytest.approx(probabilities[0].max(), abs=1e-6)
    assert np.isfinite(task.fit(TEXTS, NAMES, verbose=0).history["loss"]).all()
    task.compile(loss="sparse_categorical_crossentropy")


@pytest.mark.parametrize(
    "loss",
    [
        "sparse_categorical_crossentropy",
        keras.losses.SparseCategoricalCrossentropy(),
        keras.losses.CategoricalCrossentropy(),
    ],
)
def test_a_loss_on_probabilities_is_refused(make_tiny_text_classifier, loss):
    with pytest.raises(ValueError, match="The task gives logits"):
        make_tiny_text_classifier().compile(loss=loss)


def test_the_loss_is_a_weighted_mean(make_tiny_text_classifier):
    task = make_tiny_text_classifier(dropout=0.0)
    logits = task.predict(TEXTS, verbose=0)
    numbers = np.array([1, 0, 2, 1, 0])
    log_probabilities = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    losses = -log_probabilities[np.arange(5), numbers]
    weights = np.array([1.0, 3.0, 0.0, 2.0, 0.5], "float32")
    measured, _ = task.evaluate(TEXTS, NAMES, sample_weight=weights, verbose=0)
    assert measured == pytest.approx((weights * losses).sum() / weights.sum(), abs=1e-5)


@pytest.mark.slow
def test_class_weights_by_name(make_tiny_text_classifier):
    """Training on weight 0 for a class equals training without its rows."""
    weights = {"bad": 2.0, "good": 2.0, "mixed": 0.0}

    def train(texts, names, **arguments):
        task = make_tiny_text_classifier(dropout=0.0, freeze_backbone=True)
        task.compile(optimizer=keras.optimizers.SGD(0.5))
        task.fit(texts, names, shuffle=False, verbose=0, **arguments)
        return ops.convert_to_numpy(task.classifier.kernel)

    weighted = train(TEXTS, NAMES, class_weight=weights)
    kept = [row for row, name in enumerate(NAMES) if name != "mixed"]
    plain = train([TEXTS[row] for row in kept], [NAMES[row] for row in kept])
    np.testing.assert_allclose(weighted, plain, atol=1e-5)
    assert np.abs(weighted - train(TEXTS, NAMES)).max() > 1e-4


def test_unknown_classes_in_class_weight_are_refused(tiny_text_classifier):
    with pytest.raises(ValueError, match="it has bad, good, mixed. Received: class_weight="):
        tiny_text_classifier.fit(TEXTS, NAMES, class_weight={"awful": 1.0})


@pytest.mark.parametrize("weights", ["balanced", [1.0, 2.0, 3.0], {"bad": -1.0}, {"bad": "2"}])
def test_class_weights_that_are_none_are_refused(tiny_text_classifier, weights):
    with pytest.raises(ValueError, match="`class_weight` must be.*Received: class_weight="):
        tiny_text_classifier.fit(TEXTS, NAMES, class_weight=weights)


def test_feature_extraction_leaves_the_backbone_alone(make_tiny_text_classifier):
    task = make_tiny_text_classifier(freeze_backbone=True)
    assert len(task.trainable_weights) == 2
    before = [ops.convert_to_numpy(weight) for weight in task.backbone.weights]
    head = ops.convert_to_numpy(task.classifier.kernel)
    task.fit(TEXTS, NAMES, epochs=2, verbose=0)
    for weight, old in zip(task.backbone.weights, before, strict=True):
        np.testing.assert_array_equal(ops.convert_to_numpy(weight), old)
    assert np.abs(ops.convert_to_numpy(task.classifier.kernel) - head).max() > 0


@pytest.mark.tensorflow
def test_no_gradient_reaches_a_frozen_backbone(make_tiny_text_classifier):
    task = make_tiny_text_classifier(freeze_backbone=True)
    with tf.GradientTape() as tape:
        for weight in task.backbone.weights:
            tape.watch(weight.value)
        loss = tf.reduce_sum(task(task.preprocessor(TEXTS), training=True) ** 2)
    assert len(task.trainable_variables) == 2
    assert all(
        g is not None for g in tape.gradient(loss, [v.value for v in task.trainable_variables])
    )


@pytest.mark.slow
@pytest.mark.compiled
def test_full_fine_tuning_learns_the_texts(make_tiny_text_classifier):
    task = make_tiny_text_classifier(dropout=0.0)
    task.compile(optimizer=keras.optimizers.Adam(1e-2))
    history = task.fit(TEXTS, NAMES, epochs=60, verbose=0).history
    assert history["loss"][-1] < 0.1 < history["loss"][0]
    assert [answer["label"] for answer in task.classify(TEXTS)] == NAMES


@pytest.mark.slow
def test_mean_pooling_is_kept_and_has_no_hugging_face_form(make_tiny_text_classifier, tmp_path):
    task = make_tiny_text_classifier(pooling="mean")
    task.backbone.trainable = True
    task.compile()
    task.fit(TEXTS, NAMES, verbose=0)  # Keras would warn of weights without a gradient
    assert not any("pooler" in weight.path for weight in task.trainable_weights)
    logits = task.predict(TEXTS, verbose=0)
    assert np.abs(logits - make_tiny_text_classifier().predict(TEXTS, verbose=0)).max() > 1e-4
    task.save_to_preset(str(tmp_path / "preset"))
    copy = kerazoo.TextClassifier.from_preset(tmp_path / "preset")
    np.testing.assert_allclose(copy.predict(TEXTS, verbose=0), logits, atol=1e-6)
    other = kerazoo.TextClassifier.from_preset(tmp_path / "preset", pooling="pooled")
    kernels = [ops.convert_to_numpy(t.classifier.kernel) for t in (task, other)]
    assert np.abs(kernels[0] - kernels[1]).max() > 1e-4  # another vector, so another head
    with pytest.raises(ValueError, match="Received: pooling='mean'"):
        task.export_to_transformers(tmp_path / "theirs")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "labels=None, num_classes=None"),
        ({"labels": ["one"]}, r"labels=\['one'\]"),
        ({"labels": ["a", "a"]}, r"labels=\['a', 'a'\]"),
        ({"labels": "good"}, "labels='good'"),
        ({"labels": {"good"}}, "labels={'good'}"),
        ({"labels": ["a", None]}, r"labels=\['a', None\]"),
        ({"labels": ["a", ""]}, r"labels=\['a', ''\]"),
        ({"labels": ["a", "b"], "num_classes": 3}, "num_classes=3"),
        ({"num_classes": 2, "dropout": 1.0}, "dropout=1.0"),
    ],
)
def test_contradictions_are_refused(make_tiny_backbone, arguments, message):
    with pytest.raises(ValueError, match=f"Received: .*{message}"):
        kerazoo.TextClassifier(make_tiny_backbone(), **arguments)


def test_a_preprocessor_that_does_not_fit_is_refused(make_tiny_backbone, tiny_tokenizer):
    preprocessor = kerazoo.TextClassifierPreprocessor(tiny_tokenizer, sequence_length=12)
    with pytest.raises(ValueError, match="at most 11 positions.*sequence_length=12"):
        kerazoo.TextClassifier(make_tiny_backbone(), num_classes=2, preprocessor=preprocessor)
    preprocessor = kerazoo.TextClassifierPreprocessor(tiny_tokenizer, sequence_length=9)
    backbone = make_tiny_backbone(vocabulary_size=30)
    with pytest.raises(ValueError, match=r"embeddings \(30\).*vocabulary_size=31"):
        kerazoo.TextClassifier(backbone, num_classes=2, preprocessor=preprocessor)


def test_strings_in_a_direct_call_are_explained(tiny_text_classifier):
    with pytest.raises(ValueError, match="predict"):
        tiny_text_classifier(TEXTS)


@pytest.mark.tensorflow
def test_served_answers_equal_classify(make_tiny_text_classifier):
    task = make_tiny_text_classifier()
    signature = task.serving_signatures()["serving_default"]
    answers = signature.function(text=tf.constant(TEXTS))
    expected = task.classify(TEXTS)
    assert [name.decode() for name in answers["label"].numpy()] == [a["label"] for a in expected]
    np.testing.assert_allclose(answers["score"], [a["score"] for a in expected], atol=1e-5)
    assert answers["labels"].numpy()[3].tolist() == [b"bad", b"good", b"mixed"]


@pytest.mark.slow
@pytest.mark.tensorflow
@pytest.mark.compiled
def test_mirrored_strategy_on_two_devices(make_tiny_text_classifier, mirrored_strategy):
    assert mirrored_strategy.num_replicas_in_sync == 2
    with mirrored_strategy.scope():
        task = make_tiny_text_classifier()
    variables = len(task.variables)
    before = ops.convert_to_numpy(task.classifier.kernel)
    history = task.fit(TEXTS[:4], NAMES[:4], batch_size=4, epochs=2, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert len(task.variables) == variables
    assert np.abs(ops.convert_to_numpy(task.classifier.kernel) - before).max() > 0
    replicas = task.classifier.kernel.value.values
    np.testing.assert_array_equal(replicas[0].numpy(), replicas[1].numpy())


@pytest.mark.transformers
def test_logits_equal_transformers_there_and_back(tmp_path, tiny_vocabulary):
    """HF → kerazoo → HF: logits within 1e-5 each time, tensors bit for bit."""
    import torch
    import transformers
    from safetensors.numpy import load_file

    config = transformers.BertConfig(
        vocab_size=31,
        hidden_size=20,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=11,
        initializer_range=0.3,
        classifier_dropout=0.2,
        pad_token_id=3,
        attn_implementation="eager",
        id2label={0: "bad", 1: "good", 2: "mixed"},
        label2id={"bad": 0, "good": 1, "mixed": 2},
    )
    torch.manual_seed(1)
    model = transformers.BertForSequenceClassification(config).eval()
    source = tmp_path / "theirs"
    model.save_pretrained(source)
    (source / "vocab.txt").write_text("\n".join(tiny_vocabulary) + "\n", encoding="utf-8")
    task = kerazoo.TextClassifier.from_preset(source)
    assert task.labels == ["bad", "good", "mixed"]
    assert task.dropout == 0.2
    assert not task.load_report.missing
    assert not task.load_report.unused

    def logits_of(folder):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        batch = tokenizer(TEXTS, padding=True, truncation=True, max_length=11, return_tensors="pt")
        loaded = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
        with torch.no_grad():
            return loaded(**batch).logits.numpy()

    task.export_to_transformers(tmp_path / "ours")
    ours = task.predict(TEXTS, verbose=0)
    np.testing.assert_allclose(ours, logits_of(tmp_path / "ours"), atol=1e-5)
    first, second = (load_file(tmp_path / n / "model.safetensors") for n in ("theirs", "ours"))
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        np.testing.assert_array_equal(tensor, second[name])
