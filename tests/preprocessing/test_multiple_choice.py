import keras
import numpy as np
import pytest
import tensorflow as tf
from tiny_gpt import tiny_byte_tokenizer

from kerazoo.preprocessing.multiple_choice import MultipleChoicePreprocessor

# Against the tiny vocabulary of tests/conftest.py.
CLS, SEP, PAD, A, FILM, GOOD, BAD, VERY, DULL = 1, 2, 3, 6, 7, 10, 11, 12, 16
GPT = tiny_byte_tokenizer()
START, MARK, END = GPT.text_start_token_id, GPT.delimiter_token_id, GPT.extract_token_id


def numbers(structure):
    return tf.nest.map_structure(lambda t: np.asarray(keras.ops.convert_to_numpy(t)), structure)


def real_ids(features):
    """Return the real ids of every choice of every row."""
    return [
        [ids[mask == 1].tolist() for ids, mask in zip(*row, strict=True)]
        for row in zip(features["token_ids"], features["padding_mask"], strict=True)
    ]


def gpt_ids(text):
    return GPT.tokenize(text).numpy().tolist()


def test_gpt_reads_context_question_choice():
    x = {
        "context": ["It rained.", ""],
        "question": ["Why?", "How $ <e>?"],
        "choices": [["wet", "dry", "no"], ["so"]],
    }
    features = numbers(MultipleChoicePreprocessor(GPT, sequence_length=40)(x))
    beginning = [START, *gpt_ids("It rained."), MARK, *gpt_ids("Why?"), MARK]
    # An empty context takes no place, and a missing choice is padding alone.
    second = [START, *gpt_ids("How $ <e>?"), MARK, *gpt_ids("so"), END]
    assert real_ids(features) == [
        [[*beginning, *gpt_ids(choice), END] for choice in ("wet", "dry", "no")],
        [second, [], []],
    ]
    assert second.count(MARK) == 1
    assert second.count(END) == 1
    assert features["token_ids"].shape == (2, 3, 40)
    assert set(features["token_ids"][1, 1:].ravel()) == {GPT.pad_token_id}


def test_bert_reads_context_and_question_as_one_text(tiny_tokenizer):
    preprocessor = MultipleChoicePreprocessor(tiny_tokenizer, sequence_length=9)
    x = {
        "context": ["a film", "film", "", ""],
        "question": ["bad", "", "bad", ""],
        "choices": [["good", "very dull"]] * 4,
    }
    features = numbers(preprocessor(x))
    assert real_ids(features) == [
        [[CLS, A, FILM, BAD, SEP, GOOD, SEP], [CLS, A, FILM, BAD, SEP, VERY, DULL, SEP]],
        [[CLS, FILM, SEP, GOOD, SEP], [CLS, FILM, SEP, VERY, DULL, SEP]],
        [[CLS, BAD, SEP, GOOD, SEP], [CLS, BAD, SEP, VERY, DULL, SEP]],
        [[CLS, GOOD, SEP], [CLS, VERY, DULL, SEP]],
    ]
    assert features["segment_ids"][0].tolist() == [
        [0, 0, 0, 0, 0, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 1, 1, 0],
    ]


def test_only_the_context_is_cut_as_long_as_there_is_any(tiny_tokenizer):
    preprocessor = MultipleChoicePreprocessor(tiny_tokenizer, sequence_length=9)
    x = {
        "context": ["very very very very very very"] * 3,
        "question": ["bad", "bad bad bad bad", "bad bad bad bad bad bad"],
        "choices": [["good"], ["good good"], ["good good good good good"]],
    }
    rows = real_ids(numbers(preprocessor(x)))
    assert rows == [
        [[CLS, *[VERY] * 4, BAD, SEP, GOOD, SEP]],
        [[CLS, *[BAD] * 4, SEP, GOOD, GOOD, SEP]],
        [[CLS, *[BAD] * 3, SEP, *[GOOD] * 3, SEP]],
    ]
    assert preprocessor.count_truncated(x) == 3
    assert preprocessor.count_truncated({key: value[:1] for key, value in x.items()}) == 1


@pytest.mark.parametrize("length", [5, 6, 7, 12])
def test_the_closing_tokens_of_gpt_survive(length):
    x = {"context": ["abcdefgh"], "question": ["ijklmnop"], "choices": [["qrstuv", "w"]]}
    preprocessor = MultipleChoicePreprocessor(GPT, sequence_length=length)
    for ids in real_ids(numbers(preprocessor(x)))[0]:
        assert len(ids) <= length
        assert (ids[0], ids[-1]) == (START, END)
        assert ids.count(MARK) == 2


@pytest.mark.parametrize("multiple", [None, 4])
def test_the_same_eagerly_and_in_a_dataset(tiny_tokenizer, multiple):
    preprocessor = MultipleChoicePreprocessor(
        tiny_tokenizer, sequence_length=12, pad_to_multiple_of=multiple
    )
    x = {
        "context": tf.constant(["a film", "bad"]),
        "choices": tf.ragged.constant([["good", "bad"], ["dull"]]),
    }
    eager = numbers(preprocessor(x, y=[1, 0], sample_weight=[1.0, 2.0]))
    dataset = tf.data.Dataset.from_tensors((x, [1, 0], [1.0, 2.0])).map(preprocessor)
    traced = tf.nest.map_structure(lambda t: t.numpy(), next(iter(dataset)))
    tf.nest.map_structure(np.testing.assert_array_equal, eager, traced)
    assert traced[0]["token_ids"].shape == (2, 2, 12 if multiple is None else 8)


@pytest.mark.parametrize("label", [1, -1])
def test_a_label_that_is_no_choice_is_named(tiny_tokenizer, label):
    preprocessor = MultipleChoicePreprocessor(tiny_tokenizer, sequence_length=12)
    x = {"choices": tf.constant([["good", "bad"], ["dull", ""]])}
    dataset = tf.data.Dataset.from_tensors((x, [1, label])).map(preprocessor)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no choice of its row"):
        list(dataset)


def test_sizes_and_config(tiny_tokenizer):
    with pytest.raises(ValueError, match="Received: sequence_length=0"):
        MultipleChoicePreprocessor(tiny_tokenizer, sequence_length=0)
    short = MultipleChoicePreprocessor(tiny_tokenizer, sequence_length=4)
    with pytest.raises(ValueError, match="beside 4 special tokens"):
        short({"choices": [["good"]]})
    config = MultipleChoicePreprocessor(tiny_tokenizer, 9, pad_to_multiple_of=2).get_config()
    assert (config["sequence_length"], config["pad_to_multiple_of"]) == (9, 2)
    no_rows = {"choices": tf.zeros([0, 2], tf.string)}
    assert numbers(MultipleChoicePreprocessor(tiny_tokenizer, 9)(no_rows))["token_ids"].shape == (
        *(0, 2, 9),
    )
