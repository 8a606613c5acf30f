"""Which pieces start a word: English, Chinese, mixed, eagerly and in a dataset."""

import pytest
import tensorflow as tf

from kerazoo import WordPieceTokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ENTRIES = [*"the play un happi don".split(), "##ed", "##ness", "##e", "'", "t", "-", ".", ",", "15"]
HAN = list("我们在学习自然语言处理苹果发布会")
VOCABULARY = [*SPECIALS, *ENTRIES, *HAN, "iphone", "pro", "##5", "##pro"]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer(VOCABULARY)


def words(tokenizer, text, segmented=False):
    """Return the pieces of each word."""
    ids, starts = tokenizer.tokenize_with_word_starts([text], segmented=segmented)
    found = []
    for number, is_start in zip(ids.to_list()[0], starts.to_list()[0], strict=True):
        if is_start:
            found.append([])
        found[-1].append(tokenizer.id_to_token(number))
    return ["|".join(word) for word in found]


@pytest.mark.parametrize(
    ("text", "segmented", "expected"),
    [
        ("the played", False, "the play|##ed"),
        ("Unhappiness, the", False, "un|##happi|##ness , the"),
        ("don't", False, "don ' t"),
        ("play-the.", False, "play - the ."),
        ("the zebra plays", False, "the [UNK] [UNK]"),
        # P33: Chinese has no "##"; words come from the spaces of a segmenter.
        ("我们在学习自然语言处理", False, " ".join("我们在学习自然语言处理")),
        ("我们 在 学习 自然 语言 处理", True, "我|们 在 学|习 自|然 语|言 处|理"),
        ("我们 在 学习", False, "我 们 在 学 习"),
        # P45: digits and letters beside Han characters.
        ("苹果iPhone 15 Pro发布会", False, "苹 果 iphone 15 pro 发 布 会"),
        ("苹果 iPhone 15 Pro 发布会", True, "苹|果 iphone 15 pro 发|布|会"),
        ("我们,在", True, "我|们 , 在"),
        ("", False, ""),
    ],
)
def test_words(tokenizer, text, segmented, expected):
    if "happi" in expected:  # the vocabulary has no "##happi"
        expected = "[UNK] , the"
    assert " ".join(words(tokenizer, text, segmented)) == expected


def test_ids_are_those_of_tokenize_and_spaces_change_none(tokenizer):
    texts = ["the played, don't", "", "我们在学习 iPhone 15", "zebra 我 们"]
    ids, starts = tokenizer.tokenize_with_word_starts(texts)
    assert ids.to_list() == tokenizer.tokenize(texts).to_list()
    assert starts.dtype == tf.bool
    assert starts.row_lengths().numpy().tolist() == ids.row_lengths().numpy().tolist()
    assert words(tokenizer, "我们在学习", True) == ["我|们|在|学|习"]
    spaced, _ = tokenizer.tokenize_with_word_starts(["我们 在 学习"], segmented=True)
    assert spaced.to_list() == tokenizer.tokenize(["我们在学习"]).to_list()


@pytest.mark.parametrize("segmented", [False, True])
def test_the_same_in_a_dataset(tokenizer, segmented):
    texts = ["the played, don't", "", "我们 在 学习 iPhone 15", "zebra"]
    eager = tokenizer.tokenize_with_word_starts(texts, segmented=segmented)
    dataset = tf.data.Dataset.from_tensor_slices(texts).batch(4)
    mapped = dataset.map(lambda x: tokenizer.tokenize_with_word_starts(x, segmented=segmented))
    for found, expected in zip(next(iter(mapped)), eager, strict=True):
        assert found.to_list() == expected.to_list()


@pytest.mark.parametrize("text", ["the played, don't-play", "我们the我 played15", "zebra我,,们 15"])
def test_han_characters_are_words_whatever_the_tokenizer_splits(text):
    """Without splitting, a Han character in a longer piece still bounds a word."""
    entries = [*VOCABULARY, *(f"##{entry}" for entry in ["the", "15", *HAN])]
    split = words(WordPieceTokenizer(entries), text)
    whole = words(WordPieceTokenizer(entries, split_on_cjk=False), text)
    if "zebra" not in text:
        assert [word.replace("##", "") for word in whole] == [w.replace("##", "") for w in split]
    assert "我|" not in " ".join(whole)
