import keras
import keras_nlp
import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerazoo.generation.beam_sampler import BeamSampler
from kerazoo.preprocessing.causal_lm import CausalLMPreprocessor
from kerazoo.tasks.causal_lm import CausalLM

TEXTS = ["the good", "a the good!", "good good good the", "x", "not the good"]
PROMPTS = ["the", "good good the good the good the", "a b"]


@pytest.fixture(scope="module")
def task(make_tiny_causal_lm):
    """Shared; without XLA, whose compilation takes longer than all that is computed here."""
    task = make_tiny_causal_lm()
    task.compile(jit_compile=False)
    return task


@pytest.fixture
def sampling_task(task):
    """A function that gives the shared task another sampler, until the test ends."""

    def with_sampler(sampler):
        task.compile(sampler=sampler, jit_compile=False)
        return task

    yield with_sampler
    task.compile(jit_compile=False)


def log_probabilities(task, features):
    logits = ops.convert_to_numpy(task(features)).astype("float64")
    return logits - np.log(np.exp(logits - logits.max()).sum(-1, keepdims=True)) - logits.max()


def mean_loss_by_hand(task, texts):
    """The mean over all real tokens, each text alone and without padding."""
    losses = []
    end = task.preprocessor.tokenizer.end_token_id
    for ids in task.preprocessor.tokenizer.tokenize(texts).to_list():
        ids = np.array([[*ids, end]])
        features = {"token_ids": ids[:, :-1], "padding_mask": np.ones_like(ids[:, :-1])}
        chosen = np.take_along_axis(log_probabilities(task, features), ids[:, 1:, None], -1)
        losses += (-chosen[0, :, 0]).tolist()
    return float(np.mean(losses)), len(losses)


@pytest.mark.slow_on_jax
def test_loss_and_perplexity_run_over_real_tokens_only(task):
    measured = task.evaluate(TEXTS, batch_size=len(TEXTS), verbose=0, return_dict=True)
    expected, _ = mean_loss_by_hand(task, TEXTS)
    assert measured["loss"] == pytest.approx(expected, rel=1e-4)
    assert measured["perplexity"] == pytest.approx(np.exp(expected), rel=1e-3)


def test_the_output_matrix_is_the_embedding(make_tiny_causal_lm):
    task = make_tiny_causal_lm()
    assert len(task.weights) == len(task.backbone.weights)
    features = {"token_ids": np.array([[1, 2, 3]]), "padding_mask": np.ones((1, 3), "int32")}
    states = ops.convert_to_numpy(task.backbone(features)["sequence_output"])
    matrix = ops.convert_to_numpy(task.backbone.token_embedding.embeddings)
    np.testing.assert_allclose(
        ops.convert_to_numpy(task(features)), states @ matrix.T, rtol=1e-4, atol=1e-4
    )


@pytest.mark.slow
@pytest.mark.compiled
def test_it_learns_texts_from_lists_and_datasets(make_tiny_causal_lm):
    task = make_tiny_causal_lm()
    task.compile(optimizer=keras.optimizers.Adam(1e-2), jit_compile=False)
    history = task.fit(TEXTS, epochs=2, batch_size=5, verbose=0, validation_data=(TEXTS,)).history
    assert history["val_loss"][1] < history["val_loss"][0] < history["loss"][0]
    assert {"loss", "accuracy", "perplexity", "val_perplexity"} <= set(history)
    dataset = tf.data.Dataset.from_tensor_slices(TEXTS).batch(5)
    assert task.fit(dataset, verbose=0).history["loss"][0] == pytest.approx(
        history["val_loss"][1], rel=0.2
    )


def test_sample_weights_reach_the_loss(task):
    weights = np.array([0, 1, 0, 0, 0], "float32")
    measured = task.evaluate(
        TEXTS, sample_weight=weights, batch_size=5, verbose=0, return_dict=True
    )
    expected, _ = mean_loss_by_hand(task, TEXTS[1:2])
    assert measured["loss"] == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow_on_jax
def test_greedy_is_the_default_and_takes_the_likeliest_token(task):
    (ids,) = task.preprocessor.prompt_ids(["the good"])
    expected = list(ids)
    for _ in range(7):
        row = np.array([expected])
        features = {"token_ids": row, "padding_mask": np.ones_like(row)}
        expected.append(int(ops.convert_to_numpy(task(features))[0, -1].argmax()))
    text = task.generate("the good", max_new_tokens=7, stop_token_ids=None)
    assert text == task.preprocessor.texts([expected])[0]
    new = task.generate("the good", max_new_tokens=7, stop_token_ids=None, strip_prompt=True)
    assert new == task.preprocessor.texts([expected[len(ids) :]])[0]


@pytest.mark.parametrize("sampler", ["greedy", "beam", "contrastive"])
@pytest.mark.compiled
def test_a_prompt_gets_the_same_text_alone_and_in_a_batch(sampling_task, sampler):
    task = sampling_task(sampler)
    # They end after 16, 22 and 17 tokens, in tensors of 16 and 32.
    together = task.generate(PROMPTS, max_new_tokens=14)
    assert [task.generate(prompt, max_new_tokens=14) for prompt in PROMPTS] == together


def test_beam_is_kerazoos_own(sampling_task):
    for sampler in ("beam", keras_nlp.samplers.BeamSampler(num_beams=3)):
        task = sampling_task(sampler)
        assert type(task.sampler) is BeamSampler
    assert task.sampler.num_beams == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: keras_nlp.samplers.TopKSampler(9, seed=1),
        lambda: keras_nlp.samplers.TopPSampler(0.9, seed=1),
        lambda: keras_nlp.samplers.RandomSampler(seed=1),
    ],
    ids=["top k", "top p", "random"],
)
@pytest.mark.compiled
def test_seeds_reproduce_and_differ(sampling_task, make):
    task = sampling_task(make())
    first = task.generate(PROMPTS, max_length=20, seed=5)
    assert task.generate(PROMPTS, max_length=20) != first  # goes on with the numbers
    assert task.generate(PROMPTS, max_length=20, seed=5) == first
    assert task.generate(PROMPTS, max_length=20, seed=6) != first


def test_the_temperature_divides_the_logits_once(task, sampling_task):
    rows, best = 1000, 100
    (ids,) = task.preprocessor.prompt_ids(["the good"])
    features = {"token_ids": np.array([ids]), "padding_mask": np.ones((1, len(ids)), "int32")}
    logits = ops.convert_to_numpy(task(features))[0, -1].astype("float64")
    likeliest = np.sort(logits)[-best:]

    def mean(temperature):
        """The mean logit of the tokens that are drawn, by hand."""
        return np.average(likeliest, weights=np.exp(likeliest / temperature))

    tolerance = 4 * likeliest.std() / np.sqrt(rows)
    assert mean(1) - mean(2) > 2 * tolerance < mean(2) - mean(4)
    sampling_task(keras_nlp.samplers.TopKSampler(best, temperature=2.0, seed=4))
    with task.without_preprocessor():
        inputs = {
            "token_ids": np.array([[*ids, 0]] * rows),
            "padding_mask": np.array([[1] * len(ids) + [0]] * rows),
        }
        drawn = task.generate(inputs, stop_token_ids=None)["token_ids"][:, -1]
    assert set(logits[drawn]) <= set(likeliest)
    assert logits[drawn].mean() == pytest.approx(mean(2), abs=tolerance)


@pytest.mark.slow
def test_a_stream_draws_what_generate_draws(task, sampling_task):
    sampling_task(keras_nlp.samplers.TopPSampler(0.9, temperature=2.0))
    texts = set()
    for seed in range(4):
        whole = task.generate("the good", max_new_tokens=8, strip_prompt=True, seed=seed)
        assert "".join(task.stream("the good", max_new_tokens=8, seed=seed)) == whole
        texts.add(whole)
    assert len(texts) == 4


@pytest.mark.slow
def test_top_k_of_one_is_greedy(task, sampling_task):
    greedy = task.generate(PROMPTS, max_length=20)
    sampling_task(keras_nlp.samplers.TopKSampler(1, seed=3))
    assert task.generate(PROMPTS, max_length=20) == greedy


@pytest.mark.tensorflow
@pytest.mark.compiled
def test_each_shape_is_traced_once(make_tiny_causal_lm, monkeypatch):
    traced = []
    original = CausalLM.generate_step

    def counted(self, inputs, stop_token_ids=None):
        traced.append(tuple(inputs["token_ids"].shape))
        return original(self, inputs, stop_token_ids)

    monkeypatch.setattr(CausalLM, "generate_step", counted)
    task = make_tiny_causal_lm()
    for prompt in ("the", "a b", "the good the", "x"):
        task.generate(prompt, max_new_tokens=9)
    assert traced == [(1, 16)]


@pytest.mark.slow
def test_single_prompts_lists_and_datasets(task):
    texts = task.generate(PROMPTS, max_new_tokens=3)
    assert all(text.startswith(prompt) for text, prompt in zip(texts, PROMPTS, strict=True))
    assert task.generate(PROMPTS[0], max_new_tokens=3) == texts[0]
    dataset = tf.data.Dataset.from_tensor_slices(PROMPTS).batch(2)
    assert task.generate(dataset, max_new_tokens=3) == texts
    assert task.generate([], max_new_tokens=3) == []


@pytest.mark.parametrize(
    ("prompt", "arguments", "error", "message"),
    [
        ("", {}, ValueError, "Prompt 0 has no token"),
        (["the", ""], {}, ValueError, "Prompt 1 has no token"),
        ("good " * 40, {}, ValueError, "Prompt 0 leaves no room"),
        (["the", 3], {}, TypeError, "Prompt 1 is no text"),
        ("the", {"max_new_tokens": 40}, ValueError, "has 37 positions"),
        ("the", {"max_new_tokens": 0}, ValueError, "max_new_tokens"),
        ("the", {"stop_token_ids": "never"}, ValueError, "stop_token_ids='never'"),
        ("the", {"stop_token_ids": 5}, ValueError, "from 0 to 263.*stop_token_ids=5"),
        ("the", {"stop_token_ids": [264]}, ValueError, r"from 0 to 263.*stop_token_ids=\[264\]"),
        (None, {}, TypeError, "a string or a list of strings. Received: prompts=None"),
        ({"text": ["the"]}, {}, TypeError, "a list of strings. Received: prompts={'text': "),
        ({"the"}, {}, TypeError, "a list of strings. Received: prompts={'the'}"),
        (np.array(3), {}, TypeError, "a list of strings. Received: prompts=3"),
        ("the", {"max_new_tokens": "3"}, ValueError, "max_new_tokens='3'"),
        ("the", {"seed": "a"}, ValueError, "whole number.*seed='a'"),
        ("the", {"stop_token_ids": [1.5]}, ValueError, r"stop_token_ids=\[1.5\]"),
        ("\ud800", {}, ValueError, "half of a surrogate pair"),
    ],
)
def test_bad_prompts_are_told(task, prompt, arguments, error, message):
    with pytest.raises(error, match=message):
        task.generate(prompt, **arguments)


def test_nothing_to_learn_from_and_unknown_samplers_are_told(task):
    with pytest.raises(ValueError, match="Training needs texts"):
        task.fit([])
    with pytest.raises(ValueError, match="`sampler` must be one of 'greedy'.*sampler='nope'"):
        task.compile(sampler="nope")
    with pytest.raises(ValueError, match="from 1 to 264 tokens.*Received: k=265"):
        task.compile(sampler=keras_nlp.samplers.TopKSampler(265))


@pytest.mark.slow
def test_prompts_come_in_many_forms(task):
    expected = task.generate(["the", "x"], max_new_tokens=2)
    for prompts in (("the", "x"), np.array(["the", "x"]), tf.constant(["the", "x"])):
        assert task.generate(prompts, max_new_tokens=np.int64(2)) == expected
    for prompt in ("the", b"the", np.array("the"), np.str_("the"), tf.constant("the")):
        assert task.generate(prompt, max_new_tokens=2) == expected[0]


def test_ready_ids_are_checked(task):
    with task.without_preprocessor():
        with pytest.raises(TypeError, match="a dict of `token_ids` and `padding_mask`"):
            task.generate("the")
        with pytest.raises(ValueError, match="Ids are 0 to 263. Received: token_ids=264"):
            task.generate({"token_ids": [[5, 264, 0]], "padding_mask": [[1, 1, 0]]})
        nothing = {name: np.zeros((0, 5), "int32") for name in ("token_ids", "padding_mask")}
        assert task.generate(nothing)["token_ids"].shape == (0, 5)


@pytest.mark.slow_on_jax
def test_streaming_gives_the_same_text(task, sampling_task):
    whole = task.generate("the good", max_new_tokens=8, strip_prompt=True)
    assert "".join(task.stream("the good", max_new_tokens=8)) == whole
    with pytest.raises(ValueError, match="has 37 positions"):
        task.stream("the good", max_new_tokens=60)
    for arguments, message in (
        ({"max_new_tokens": 2.5}, "whole number. Received: max_new_tokens=2.5"),
        ({"max_new_tokens": 0}, "max_new_tokens=0"),
        ({"seed": -1}, "seed=-1"),
    ):
        with pytest.raises(ValueError, match=message):
            task.stream("the good", **arguments)
    sampling_task("beam")
    with pytest.raises(ValueError, match="sampler=BeamSampler"):
        task.stream("the good")


@pytest.mark.slow
def test_a_preset_keeps_everything(make_tiny_causal_lm, tmp_path):
    task = make_tiny_causal_lm(sequence_length=21, add_start_token=True)
    task.save_to_preset(tmp_path)
    copy = CausalLM.from_preset(tmp_path)
    for each in (task, copy):
        each.compile(jit_compile=False)
    assert copy.preprocessor.sequence_length == 21
    assert copy.preprocessor.add_start_token
    assert copy.generate(PROMPTS, max_length=20) == task.generate(PROMPTS, max_length=20)


def test_what_does_not_fit_is_refused(make_tiny_backbone, make_tiny_gpt, tiny_bpe_tokenizer):
    with pytest.raises(ValueError, match="from left to right.*backbone=BertBackbone"):
        CausalLM(make_tiny_backbone())
    with pytest.raises(ValueError, match="at most 37 positions.*sequence_length=38"):
        CausalLM(make_tiny_gpt(), CausalLMPreprocessor(tiny_bpe_tokenizer, sequence_length=38))
    with pytest.raises(TypeError, match="labels"):
        CausalLM(make_tiny_gpt(), labels=["a"])


def test_pairs_are_refused(task):
    with pytest.raises(ValueError, match="reads single texts"):
        task.evaluate((["a"], ["b"]), verbose=0)


def test_half_precision_gives_float32_logits(tiny_bpe_tokenizer, make_tiny_gpt):
    task = CausalLM(make_tiny_gpt(dtype="mixed_bfloat16"))
    row = np.array([[1, 2, 3]])
    logits = task({"token_ids": row, "padding_mask": np.ones_like(row)})
    assert keras.backend.standardize_dtype(logits.dtype) == "float32"
    inputs = {
        "token_ids": np.pad(row, ((0, 0), (0, 5))),
        "padding_mask": np.array([[1] * 3 + [0] * 5]),
    }
    assert task.generate(inputs, stop_token_ids=None)["token_ids"].shape == (1, 8)
