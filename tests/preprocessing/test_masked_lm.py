import numpy as np
import pytest
import tensorflow as tf
from keras import ops

from kerazoo.preprocessing.masked_lm import MaskedLMPreprocessor

TEXTS = ["the film was good", "a", "", "the plays was very dull and not great !", "电影 好 ."]


@pytest.fixture(scope="module")
def make(tiny_tokenizer):
    def make(**options):
        return MaskedLMPreprocessor(tiny_tokenizer, **{"sequence_length": 13, **options})

    return make


def numbers(outputs):
    return [np.asarray(ops.convert_to_numpy(x)) for x in tf.nest.flatten(outputs)]


def test_inputs_targets_and_weights(make, tiny_tokenizer):
    features, mask_ids, weights = make()(TEXTS, mask_seed=4)
    assert set(features) == {"token_ids", "segment_ids", "padding_mask", "mask_positions"}
    features = {key: ops.convert_to_numpy(value) for key, value in features.items()}
    mask_ids, weights = ops.convert_to_numpy(mask_ids), ops.convert_to_numpy(weights)
    assert features["token_ids"].shape == (5, 13)
    assert mask_ids.shape == weights.shape == (5, 2)  # 13 × 0.15 = 1.95
    assert weights.sum(axis=1).tolist() == [1, 1, 0, 2, 1]
    plain = tiny_tokenizer.tokenize(TEXTS).to_list()
    for row, ids in enumerate(plain):
        restored = features["token_ids"][row].copy()
        used = weights[row] > 0
        restored[features["mask_positions"][row][used]] = mask_ids[row][used]
        assert restored[1 : 1 + len(ids)].tolist() == ids


@pytest.mark.parametrize("masking", ["token", "whole_word", "ngram"])
@pytest.mark.parametrize("multiple", [None, 4])
def test_the_same_eagerly_and_in_a_dataset(make, masking, multiple):
    preprocessor = make(masking=masking, pad_to_multiple_of=multiple)
    eager = numbers(preprocessor(TEXTS, mask_seed=(3, 5)))
    dataset = tf.data.Dataset.from_tensors(TEXTS)
    mapped = dataset.map(lambda x: preprocessor(x, mask_seed=(3, 5)))
    for found, expected in zip(numbers(next(iter(mapped))), eager, strict=True):
        np.testing.assert_array_equal(found, expected)
    assert eager[1].shape == (5, 13 if multiple is None else 12)


def test_pairs(make):
    for pair in ((["a film"], ["good"]), {"text": ["a film"], "text_pair": ["good"]}):
        features, _, _ = make()(pair, mask_seed=1)
        segments = ops.convert_to_numpy(features["segment_ids"])[0, :7]
        assert segments.tolist() == [0, 0, 0, 0, 1, 1, 0]


def test_new_masks_each_epoch_and_frozen_ones_in_evaluation(make):
    """P41, P42."""
    preprocessor = make()
    texts = tf.data.Dataset.from_tensor_slices(TEXTS * 8).batch(8)

    def epoch(dataset):
        return np.concatenate([x["mask_positions"] for x, _, _ in dataset])

    training = preprocessor.masked_dataset(texts, seed=3)
    first, second = epoch(training), epoch(training)
    assert (first != second).any()
    again = preprocessor.masked_dataset(texts, seed=3)
    np.testing.assert_array_equal(epoch(again), first)
    np.testing.assert_array_equal(epoch(again), second)
    frozen = preprocessor.masked_dataset(texts, seed=3, training=False)
    np.testing.assert_array_equal(epoch(frozen), epoch(frozen))
    later = preprocessor.masked_dataset(texts.skip(2), seed=3, training=False, first_batch=2)
    np.testing.assert_array_equal(epoch(later), epoch(frozen)[16:])


def test_cached_before_masking_masks_are_new_and_after_it_they_repeat(make):
    preprocessor = make()
    texts = tf.data.Dataset.from_tensor_slices(TEXTS * 8).batch(40)

    def epoch(dataset):
        ((features, _, _),) = dataset
        return features["mask_positions"].numpy()

    before = preprocessor.masked_dataset(texts.cache(), seed=3)
    assert (epoch(before) != epoch(before)).any()
    after = preprocessor.masked_dataset(texts, seed=3).cache()
    np.testing.assert_array_equal(epoch(after), epoch(after))


def test_sample_weights_multiply_those_of_the_masks(make):
    _, _, weights = make()(TEXTS, sample_weight=[2.0, 1.0, 1.0, 0.5, 0.0], mask_seed=4)
    assert ops.convert_to_numpy(weights).sum(axis=1).tolist() == [2, 1, 0, 1, 0]


def test_a_seed_of_the_layer_keeps_the_masks_of_a_batch(make):
    preprocessor = make(seed=5)
    for first, second in zip(
        numbers(preprocessor(TEXTS)), numbers(preprocessor(TEXTS)), strict=True
    ):
        np.testing.assert_array_equal(first, second)


def test_what_cannot_be_masked_is_refused(make, tiny_bpe_tokenizer):
    """P35: a vocabulary whose pieces say nothing of words is refused, not masked wrongly."""
    with pytest.raises(ValueError, match="needs a tokenizer with a mask token"):
        MaskedLMPreprocessor(tiny_bpe_tokenizer, sequence_length=13)
    with pytest.raises(ValueError, match="Pass no `y`"):
        make().preprocess(["a"], y=[1])
    with pytest.raises(ValueError, match="masking='words'"):
        make(masking="words")


def test_config_round_trip(make, tiny_tokenizer):
    preprocessor = make(masking="ngram", segmented=True, mask_selection_rate=0.3, seed=9)
    config = preprocessor.get_config()
    copy = MaskedLMPreprocessor.from_config(config)
    assert {k: v for k, v in copy.get_config().items() if k != "tokenizer"} == {
        k: v for k, v in config.items() if k != "tokenizer"
    }
    copy.tokenizer.set_vocabulary(tiny_tokenizer.get_vocabulary())
    for first, second in zip(numbers(copy(TEXTS)), numbers(preprocessor(TEXTS)), strict=True):
        np.testing.assert_array_equal(first, second)


def test_narrow_batches_have_few_slots(tiny_tokenizer):
    def slots(text, **options):
        preprocessor = MaskedLMPreprocessor(
            tiny_tokenizer, sequence_length=40, pad_to_multiple_of=4, seed=3, **options
        )
        features, mask_ids, mask_weights = preprocessor([text, "bad"])
        assert features["mask_positions"].shape == mask_ids.shape == mask_weights.shape
        assert (ops.convert_to_numpy(mask_weights).sum(axis=1) >= 1).all()
        return mask_ids.shape[1]

    assert slots("good") == 1  # of 4 tokens
    assert slots("good " * 17) == 3  # of 20
    assert slots("good " * 50) == 6  # of 40
    assert slots("good", mask_selection_length=5) == 5
    # A word may have more pieces than the row has masks.
    assert slots("good", masking="whole_word") == 6
