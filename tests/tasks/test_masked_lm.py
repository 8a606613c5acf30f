import keras
import keras_nlp
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

import kerazoo
from kerazoo.optimizers.adamw import create_optimizer

TEXTS = [
    "a good film",
    "the play was not very dull!",
    "bad",
    "电影 好, 影 差",
    "is it a great play?",
]


def ready(task, seed=4):
    """Masked features of the texts as arrays, targets and weights."""
    features, ids, weights = task.preprocessor(TEXTS, mask_seed=seed)
    features = {key: ops.convert_to_numpy(features[key]) for key in task.input}
    return features, ops.convert_to_numpy(ids), ops.convert_to_numpy(weights)


def losses_of(logits, ids):
    shifted = logits - logits.max(-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    return -np.take_along_axis(log_probabilities, ids[..., None], -1)[..., 0]


def predicted(task, features):
    with task.without_preprocessor():
        return task.predict(features, verbose=0)


def test_is_kerashubs_masked_lm_too(tiny_masked_lm):
    assert isinstance(tiny_masked_lm, keras_nlp.models.MaskedLM)


def test_logits_are_the_heads_at_the_masks_alone(tiny_masked_lm):
    task = tiny_masked_lm
    features, ids, _ = ready(task)
    logits = predicted(task, features)
    assert logits.shape == (5, ids.shape[1], 31)
    assert logits.dtype == np.float32
    states = task.backbone({key: features[key] for key in task.backbone.input})["sequence_output"]
    everywhere = np.tile(np.arange(15, dtype="int32"), (5, 1))
    all_logits = ops.convert_to_numpy(task.masked_lm_head(states, everywhere))
    chosen = np.take_along_axis(all_logits, features["mask_positions"][..., None], 1)
    np.testing.assert_allclose(logits, chosen, atol=1e-5)


def test_loss_and_metrics_are_weighted_means_over_masks(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    features, ids, weights = ready(task)
    logits = predicted(task, features)
    weights = weights * np.array([2.0, 1.0, 0.0, 0.5, 3.0], "float32")[:, None]
    assert 0 < (weights == 0).sum() < weights.size
    losses = losses_of(logits, ids)
    expected = (weights * losses).sum() / weights.sum()
    right = (weights * (logits.argmax(-1) == ids)).sum() / weights.sum()
    with task.without_preprocessor():
        measured = task.evaluate(features, ids, sample_weight=weights, verbose=0, return_dict=True)
    assert measured["loss"] == pytest.approx(expected, rel=1e-5)
    assert measured["perplexity"] == pytest.approx(np.exp(expected), rel=1e-4)
    assert measured["accuracy"] == pytest.approx(right, abs=1e-6)


def test_a_batch_without_a_mask_costs_nothing(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    features, ids, weights = ready(task)
    with task.without_preprocessor():
        history = task.fit(features, ids, sample_weight=0 * weights, verbose=0).history
    assert history["loss"] == [0.0]
    assert all(np.isfinite(ops.convert_to_numpy(w)).all() for w in task.weights)


def masks_of(task, dataset):
    return [
        ops.convert_to_numpy(task.preprocess_samples(*batch)[0]["mask_positions"]).tolist()
        for batch in dataset
    ]


@pytest.mark.parametrize("seed", [None, 7])
def test_new_masks_in_every_epoch_and_the_same_for_the_same_seed(make_tiny_masked_lm, seed):
    task = make_tiny_masked_lm(seed=seed)

    def epochs():
        keras.utils.set_random_seed(3)
        dataset = task.training_dataset(tf.data.Dataset.from_tensor_slices((TEXTS,)).batch(2))
        return [masks_of(task, dataset) for _ in range(3)]

    first, second, third = epochs()
    assert first != second != third != first
    assert epochs() == [first, second, third]


@pytest.mark.slow
def test_evaluation_always_has_the_same_masks(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    task.compile(optimizer=keras.optimizers.SGD(0.0))
    history = task.fit(TEXTS, epochs=2, validation_data=(TEXTS,), verbose=0).history
    assert history["loss"][0] != history["loss"][1]
    assert history["val_loss"][0] == pytest.approx(history["val_loss"][1], abs=1e-6)
    loss = task.evaluate(TEXTS, verbose=0, return_dict=True)["loss"]
    assert loss == pytest.approx(history["val_loss"][0], abs=1e-5)


@pytest.mark.slow
@pytest.mark.tensorflow  # fit compiles anew on JAX
def test_row_weights_and_datasets_of_pairs(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    task.fit(TEXTS, sample_weight=[1.0, 0.0, 2.0, 1.0, 1.0], verbose=0)
    pairs = {"text": TEXTS[:3], "text_pair": TEXTS[1:4]}
    dataset = tf.data.Dataset.from_tensor_slices(pairs).batch(2)
    assert np.isfinite(task.fit(dataset, validation_data=dataset, verbose=0).history["val_loss"])
    assert task.pairs is False


@pytest.mark.slow
@pytest.mark.compiled
def test_it_learns_what_stands_where(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    task.compile(optimizer=keras.optimizers.Adam(1e-2))
    features, ids, weights = ready(task)
    with task.without_preprocessor():
        history = task.fit(features, ids, sample_weight=weights, epochs=30, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] / 4
    assert history["accuracy"][-1] > 0.6 > 0.3 > history["accuracy"][0]


def test_a_preset_keeps_head_tie_and_masking(make_tiny_masked_lm, tmp_path):
    task = make_tiny_masked_lm(masking="whole_word", mask_token_rate=0.7)
    task.masked_lm_head.bias.assign(np.linspace(-1, 1, 31))
    features, _, _ = ready(task)
    task.save_to_preset(tmp_path)
    copy = kerazoo.MaskedLM.from_preset(tmp_path)
    np.testing.assert_allclose(predicted(copy, features), predicted(task, features), atol=1e-6)
    assert copy.masked_lm_head.token_embedding is copy.backbone.token_embedding
    assert copy.preprocessor.get_config()["masking"] == "whole_word"
    assert copy.preprocessor.masker.mask_token_rate == 0.7
    other = kerazoo.MaskedLM.from_preset(tmp_path, masking="ngram", sequence_length=9)
    assert other.preprocessor.masker.masking == "ngram"
    assert other.preprocessor.masker.mask_selection_length == 3  # 0.3 of 9
    assert kerazoo.MaskedLM.from_preset(tmp_path, load_weights=False).count_params()


@pytest.mark.slow
def test_saved_with_its_optimizer(make_tiny_masked_lm, tmp_path):
    task = make_tiny_masked_lm()
    task.fit(TEXTS, verbose=0)
    task.save(tmp_path / "task.keras")
    copy = keras.saving.load_model(tmp_path / "task.keras")
    features, _, _ = ready(task)
    np.testing.assert_allclose(predicted(copy, features), predicted(task, features), atol=1e-6)
    assert len(copy.optimizer.variables) == len(task.optimizer.variables)
    assert copy.masked_lm_head.token_embedding is copy.backbone.token_embedding


def test_a_backbone_that_was_trained_here_trains_whole_in_a_classifier(make_tiny_masked_lm):
    """A masked LM does not read the pooler and freezes it; a classifier reads it."""
    task = make_tiny_masked_lm()
    assert not any("pooler" in weight.path for weight in task.trainable_weights)
    classifier = kerazoo.TextClassifier(task.backbone, num_classes=2)
    assert any("pooler" in weight.path for weight in classifier.trainable_weights)


@pytest.mark.slow
def test_half_precision(make_tiny_backbone, tiny_tokenizer):
    preprocessor = kerazoo.MaskedLMPreprocessor(tiny_tokenizer, sequence_length=11)
    task = kerazoo.MaskedLM(make_tiny_backbone(dtype="mixed_bfloat16"), preprocessor)
    features, ids, weights = ready(task)
    assert predicted(task, features).dtype == np.float32
    with task.without_preprocessor():
        history = task.fit(features, ids, sample_weight=weights, verbose=0).history
    assert np.isfinite(history["loss"]).all()


@pytest.mark.slow
def test_mixed_bfloat16_learns_as_float32_does(make_tiny_backbone, tiny_tokenizer):
    """A few steps; `benchmarks/bfloat16_curve.py` has real ones."""
    preprocessor = kerazoo.MaskedLMPreprocessor(tiny_tokenizer, sequence_length=11)

    def trained(dtype):
        rates = {"dropout": 0.0, "attention_dropout": 0.0}
        backbone = make_tiny_backbone(dtype=dtype, initializer_range=0.3, **rates)
        task = kerazoo.MaskedLM(backbone, preprocessor)
        task.compile(create_optimizer(0.003))
        features, ids, weights = ready(task)
        options = {"sample_weight": weights, "shuffle": False, "epochs": 9, "verbose": 0}
        with task.without_preprocessor():
            losses = task.fit(features, ids, **options).history["loss"]
        kept = {str(v.dtype) for v in (*task.weights, *task.optimizer.variables)}
        return losses, {name for name in kept if "float" in name}

    losses, _ = trained("float32")
    mixed, kept = trained("mixed_bfloat16")
    assert kept == {"float32"}
    assert losses[-1] < 0.8 * losses[0]
    assert mixed != losses
    np.testing.assert_allclose(mixed, losses, rtol=0.01)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*The use of `x.T`")  # Keras's int8 embedding on PyTorch
def test_quantised_and_with_lora(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    features, _, _ = ready(task)
    before = predicted(task, features)
    task.quantize("int8")
    after = predicted(task, features)
    assert 0 < np.abs(after - before).max() < np.abs(before).max() / 2
    task = make_tiny_masked_lm()
    task.backbone.enable_lora(2)
    task.compile()
    paths = {weight.path for weight in task.trainable_weights}
    assert "masked_lm/bias" in paths
    assert not any("token_embedding" in path or "pooler" in path for path in paths)


@pytest.mark.slow_on_jax
def test_another_encoder_of_kerashub(tiny_tokenizer):
    backbone = keras_nlp.models.DistilBertBackbone(
        vocabulary_size=31,
        num_layers=1,
        num_heads=2,
        hidden_dim=12,
        intermediate_dim=14,
        max_sequence_length=13,
    )
    preprocessor = kerazoo.MaskedLMPreprocessor(tiny_tokenizer, sequence_length=11)
    task = kerazoo.MaskedLM(backbone, preprocessor)
    assert len(task.fill_mask("a [MASK]", top_k=2)[0]) == 2


def test_a_causal_backbone_is_refused(make_tiny_gpt):
    with pytest.raises(ValueError, match="in both directions.*backbone=GPTBackbone"):
        kerazoo.MaskedLM(make_tiny_gpt())
    theirs = keras_nlp.models.GPT2Backbone(
        vocabulary_size=31, num_layers=1, num_heads=2, hidden_dim=12, intermediate_dim=14
    )
    with pytest.raises(ValueError, match="in both directions.*backbone=GPT2Backbone"):
        kerazoo.MaskedLM(theirs)


def test_what_does_not_fit_is_refused(make_tiny_backbone, tiny_tokenizer, tiny_masked_lm):
    preprocessor = kerazoo.MaskedLMPreprocessor(tiny_tokenizer, sequence_length=12)
    with pytest.raises(ValueError, match="at most 11 positions.*sequence_length=12"):
        kerazoo.MaskedLM(make_tiny_backbone(), preprocessor)
    with pytest.raises(TypeError, match="labels"):
        kerazoo.MaskedLM(make_tiny_backbone(), labels=["a", "b"])
    with pytest.raises(ValueError, match="learns from texts alone.*Pass no `y`"):
        tiny_masked_lm.fit(TEXTS, [0, 1, 0, 1, 1])
    with pytest.raises(ValueError, match="`predict` takes ready inputs.*`fill_mask`"):
        tiny_masked_lm.predict(TEXTS)
