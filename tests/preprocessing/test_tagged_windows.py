import numpy as np
import pytest
import tensorflow as tf
from tiny_extractive_qa import tiny_tokenizer
from tiny_token_classifier import TEXTS, WORDS

from kerazoo.preprocessing.tagged_windows import tagged_windows


def read(**arguments):
    return tagged_windows(tiny_tokenizer(), 13, 4, **arguments)


@pytest.mark.parametrize("given", [{"texts": TEXTS}, {"words": tf.ragged.constant(WORDS)}])
def test_each_token_stands_where_it_is_most_central(given):
    windows = read(**given)
    texts = [text.decode() for text in windows.texts.numpy()]
    ids = [tiny_tokenizer()(text).numpy().tolist() for text in texts]
    flat = [i for row in ids for i in row]
    places = windows.places(tf.range(len(flat))).numpy()
    rows = windows.features["token_ids"].numpy()
    assert [int(rows[window, position]) for window, position in places] == flat
    # The most context, over all windows that see the token.
    firsts, lengths = windows.windows.first.numpy(), windows.windows.length.numpy()
    documents = windows.windows.document.numpy()
    token = 0
    for document, row in enumerate(ids):
        for number in range(len(row)):
            contexts = {
                window: min(number - firsts[window], firsts[window] + lengths[window] - 1 - number)
                for window in np.flatnonzero(documents == document)
                if firsts[window] <= number < firsts[window] + lengths[window]
            }
            window = places[token][0]
            assert contexts[window] == max(contexts.values())
            token += 1


def test_words_without_a_token_are_not_visible():
    windows = read(words=tf.ragged.constant(WORDS))
    hidden = [w for row in WORDS for w in row].index("\u200b")
    count = sum(map(len, WORDS))
    assert windows.visible_words().numpy().tolist() == [i for i in range(count) if i != hidden]
    tokens = windows.first_tokens(windows.visible_words()).numpy()
    assert (np.diff(tokens) > 0).all()


def test_rows_of_one_window_are_those_of_other_tasks(make_tiny_backbone):
    from kerazoo import TextClassifierPreprocessor

    short = ["Ada came.", "小明", "", "the cats"]
    other = TextClassifierPreprocessor(tiny_tokenizer(), sequence_length=13)
    expected = other.pack_texts([tf.constant(short)], 4)
    found = read(texts=short, pad_to_multiple_of=4).features
    for key, value in expected.items():
        np.testing.assert_array_equal(found[key], value)


def test_wrong_strides_are_refused():
    with pytest.raises(ValueError, match="stride=12"):
        tagged_windows(tiny_tokenizer(), 13, 12, texts=["a"])
    with pytest.raises(ValueError, match="sequence_length=2"):
        tagged_windows(tiny_tokenizer(), 2, texts=["a"])
