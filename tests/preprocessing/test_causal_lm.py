import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.preprocessing.causal_lm import CausalLMPreprocessor, check_prompts, padded

TEXTS = ["the good", "", "a the!", "good good good good"]


@pytest.fixture
def make(tiny_bpe_tokenizer):
    return lambda **arguments: CausalLMPreprocessor(tiny_bpe_tokenizer, **arguments)


def numpy_of(value):
    return tf.nest.map_structure(keras.ops.convert_to_numpy, value)


def rows_by_hand(tokenizer, texts, length, start=False):
    """Features, targets and weights of each text, by plain lists."""
    end = tokenizer.end_token_id
    features, masks, targets, weights = [], [], [], []
    for ids in tokenizer.tokenize(texts).to_list():
        ids = ([end] if start else []) + ids + [end]
        ids = ids[: length + 1]
        inputs, following = ids[:length], ids[1:]
        features.append(inputs + [end] * (length - len(inputs)))
        masks.append([1] * len(inputs) + [0] * (length - len(inputs)))
        targets.append(following + [end] * (length - len(following)))
        weights.append([1.0] * len(following) + [0.0] * (length - len(following)))
    return np.array(features), np.array(masks), np.array(targets), np.array(weights)


@pytest.mark.parametrize("start", [False, True])
@pytest.mark.parametrize("length", [3, 6, 40])
def test_each_token_is_the_target_of_the_one_before(make, tiny_bpe_tokenizer, length, start):
    preprocessor = make(sequence_length=length, add_start_token=start)
    features, targets, weights = numpy_of(preprocessor(TEXTS))
    expected = rows_by_hand(tiny_bpe_tokenizer, TEXTS, length, start)
    np.testing.assert_array_equal(features["token_ids"], expected[0])
    np.testing.assert_array_equal(features["padding_mask"], expected[1])
    np.testing.assert_array_equal(targets, expected[2])
    np.testing.assert_array_equal(weights, expected[3])
    dataset = tf.data.Dataset.from_tensor_slices(TEXTS).batch(4).map(preprocessor)
    for ours, theirs in zip(
        tf.nest.flatten(next(iter(dataset))),
        tf.nest.flatten((features, targets, weights)),
        strict=True,
    ):
        np.testing.assert_array_equal(ours.numpy(), theirs)


def test_the_end_is_a_target_only_where_the_text_ends(make, tiny_bpe_tokenizer):
    end = tiny_bpe_tokenizer.end_token_id
    whole, cut = "the good", "the good the good the good"
    _, targets, weights = numpy_of(make(sequence_length=5)([whole, cut]))
    counted = [row[weight > 0].tolist() for row, weight in zip(targets, weights, strict=True)]
    assert counted[0][-1] == end
    assert end not in counted[1]
    assert len(counted[1]) == 5


def test_rows_are_as_wide_as_the_longest_needs(make):
    features, targets, _ = numpy_of(make(sequence_length=29, pad_to_multiple_of=4)(["the good! x"]))
    assert features["token_ids"].shape == targets.shape == (1, 8)
    features, _, _ = numpy_of(make(sequence_length=29, pad_to_multiple_of=4)([""]))
    assert features["token_ids"].shape == (1, 4)
    dataset = tf.data.Dataset.from_tensor_slices(TEXTS).batch(4)
    spec = dataset.map(make(sequence_length=29)).element_spec
    assert spec[0]["token_ids"].shape == spec[1].shape == (None, 29)


def test_sample_weights_weigh_every_token_of_a_text(make):
    _, _, plain = numpy_of(make(sequence_length=9)(TEXTS))
    _, _, weighted = numpy_of(make(sequence_length=9)(TEXTS, sample_weight=[2.0, 1.0, 0.5, 0.0]))
    np.testing.assert_allclose(weighted, plain * np.array([2, 1, 0.5, 0])[:, None])


def test_prompts_have_no_end_and_come_back_as_they_were(make, tiny_bpe_tokenizer):
    preprocessor = make(sequence_length=29)
    prompts = ["the good", " 电影 🎉 ", "x"]
    inputs = preprocessor.generate_preprocess(prompts, sequence_length=24)
    assert inputs["token_ids"].shape == inputs["padding_mask"].shape == (3, 24)
    lengths = tiny_bpe_tokenizer.tokenize(prompts).row_lengths().numpy()
    np.testing.assert_array_equal(inputs["padding_mask"].sum(axis=1), lengths)
    assert preprocessor.generate_postprocess(inputs) == prompts
    assert preprocessor.prompt_ids(prompts) == tiny_bpe_tokenizer.tokenize(prompts).to_list()


def test_bytes_that_are_no_characters_are_replaced(make, tiny_bpe_tokenizer):
    (ids,) = tiny_bpe_tokenizer.tokenize(["电"]).to_list()
    assert make().texts([ids[:2], [*ids, tiny_bpe_tokenizer.end_token_id], []]) == [
        "\ufffd",
        "电",
        "",
    ]


@pytest.mark.parametrize(
    ("prompts", "error", "message"),
    [
        (["a", ""], ValueError, "Prompt 1 has no token.*Received: 0 tokens in prompt 1"),
        (["a", "the good the good"], ValueError, "Prompt 1 leaves no room.*5 tokens together"),
        (["a", 3], TypeError, "Prompt 1 is no text.*Received: 3"),
        (["a", None], TypeError, "Received: None"),
    ],
)
def test_bad_prompts_are_told(make, prompts, error, message):
    with pytest.raises(error, match=message):
        make().generate_preprocess(prompts, sequence_length=5)


def test_a_start_token_makes_the_empty_prompt_possible(make, tiny_bpe_tokenizer):
    preprocessor = make(add_start_token=True)
    assert preprocessor.prompt_ids([""]) == [[tiny_bpe_tokenizer.start_token_id]]
    check_prompts(preprocessor.prompt_ids([""]), [2])


def test_padding_fills_up():
    ids, mask = padded([[5, 6], [7]], 3, pad_token_id=9)
    assert ids.tolist() == [[5, 6, 9], [7, 9, 9]]
    assert mask.tolist() == [[1, 1, 0], [1, 0, 0]]


def test_long_texts_are_counted(make):
    texts = ["the good " * 9, "x", "the" * 40]
    assert make(sequence_length=8).count_truncated(texts, batch_size=2) == 2


def test_it_is_restored_from_its_config(make, tiny_bpe_tokenizer):
    preprocessor = make(sequence_length=17, add_start_token=True, pad_to_multiple_of=3)
    config = preprocessor.get_config()
    copy = CausalLMPreprocessor(**{**config, "tokenizer": tiny_bpe_tokenizer})
    for name in ("sequence_length", "add_start_token", "add_end_token", "pad_to_multiple_of"):
        assert getattr(copy, name) == getattr(preprocessor, name)


@pytest.mark.parametrize("arguments", [{"sequence_length": 0}, {"pad_to_multiple_of": -1}])
def test_impossible_lengths_are_refused(make, arguments):
    with pytest.raises(ValueError, match="must be a number above zero"):
        make(**arguments)
