"""Ids equal those of the `tokenizers` library with the steps of GPT-1's tokenizer."""

import unicodedata

import pytest
from bpe_reference import gpt_reference, gpt_vocabulary
from huggingface_differences import DIFFERENT
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_strings import NASTY_STRINGS
from real_data import bbc_news_lines, chinese_review_lines

from kerazoo.tokenizers.gpt_bpe import GPTBPETokenizer

ENTRIES = [
    "<unk>",
    "p",
    "l",
    "a",
    "y",
    "y</w>",
    "pl",
    "ay</w>",
    "é</w>",
    "e</w>",
    ".</w>",
    "我</w>",
]
VOCABULARY = {entry: number for number, entry in enumerate(ENTRIES)}
MERGES = ["p l", "a y</w>"]
JOINERS = {"\u200c", "\u200d", "\u2060", *map(chr, range(0xE0020, 0xE0080))}


def belongs_to_the_character_before(text: str) -> bool:
    return all(unicodedata.category(c).startswith("M") or c in JOINERS for c in text)


def assert_equal(ours: GPTBPETokenizer, reference, texts: list[str]) -> None:
    """Ids and texts are equal; so are offsets, but that ours include deleted marks."""
    ids, starts, ends = ours.tokenize_with_offsets(texts)
    decoded = ours.detokenize(ids).numpy()
    rows = zip(ids.to_list(), starts.to_list(), ends.to_list(), strict=True)
    encodings = reference.encode_batch(texts, add_special_tokens=False)
    expected = reference.decode_batch([e.ids for e in encodings], skip_special_tokens=False)
    assert [text.decode() for text in decoded] == expected
    for text, row, encoding in zip(texts, rows, encodings, strict=True):
        assert row[0] == encoding.ids, repr(text)
        spans = list(zip(row[1], row[2], strict=True))
        if spans != encoding.offsets:
            for (start, end), (their_start, their_end) in zip(spans, encoding.offsets, strict=True):
                assert start == their_start and end >= their_end, repr(text)
                assert belongs_to_the_character_before(text[their_end:end]), repr(text)


@pytest.fixture(scope="module")
def pair():
    """kerazoo's tokenizer and the reference."""
    return GPTBPETokenizer(*gpt_vocabulary()), gpt_reference(*gpt_vocabulary())


def test_ids_and_offsets():
    tokenizer = GPTBPETokenizer(VOCABULARY, MERGES)
    ids, starts, ends = tokenizer.tokenize_with_offsets(["Play É我.", "", " \n", "ayé"])
    assert ids.to_list() == [[6, 7, 9, 11, 10], [], [], [3, 4, 9]]
    assert starts.to_list() == [[0, 2, 5, 6, 7], [], [], [0, 1, 2]]
    assert ends.to_list() == [[2, 4, 6, 7, 8], [], [], [1, 2, 3]]


def test_unknown_characters_are_unknown_one_by_one():
    tokenizer = GPTBPETokenizer(VOCABULARY, MERGES)
    assert tokenizer("zplzz zl").numpy().tolist() == [0, 6, 0, 0, 0, 0]
    assert tokenizer.unknown_rate(["play z", "zay"]) == 0.4
    assert_equal(tokenizer, gpt_reference(VOCABULARY, [m.split() for m in MERGES]), NASTY_STRINGS)


@pytest.mark.parametrize(
    ("lowercase", "strip_accents", "special_tokens_in_strings"),
    [(True, None, False), (True, None, True), (True, False, True), (False, None, False)],
)
def test_nasty_strings(lowercase, strip_accents, special_tokens_in_strings):
    options = {"lowercase": lowercase, "strip_accents": strip_accents}
    ours = GPTBPETokenizer(
        *gpt_vocabulary(), special_tokens_in_strings=special_tokens_in_strings, **options
    )
    specials = ["<unk>"] if special_tokens_in_strings else []
    reference = gpt_reference(*gpt_vocabulary(), specials, **options)
    assert_equal(ours, reference, [*NASTY_STRINGS, "a <unk>b", "<UNK>", "<unk><unk>.", "É<unk>É"])


def test_special_tokens_in_strings():
    texts = ["<unk>", "a<unk>.", "<UNK>"]
    trusting = GPTBPETokenizer(VOCABULARY, MERGES, special_tokens_in_strings=True)
    assert trusting(texts).to_list()[:2] == [[0], [0, 0, 10]]
    _, starts, ends = trusting.tokenize_with_offsets(["y<unk>.y"])
    assert (starts.to_list(), ends.to_list()) == ([[0, 1, 6, 7]], [[1, 6, 7, 8]])
    assert len(GPTBPETokenizer(VOCABULARY, MERGES)("<unk>")) == 5


ANY_CHARACTER = st.characters(exclude_categories=["Cs"]).filter(lambda c: ord(c) not in DIFFERENT)
NASTY_CHARACTER = st.sampled_from(sorted(set("".join(NASTY_STRINGS))))
TEXT = st.lists(st.one_of(ANY_CHARACTER, NASTY_CHARACTER, st.sampled_from("aB .é中\u0301"))).map(
    "".join
)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=6))
def test_random_texts(pair, texts):
    assert_equal(*pair, texts)


def test_long_words(pair):
    letters = "".join(c for text in NASTY_STRINGS for c in text.lower() if "a" <= c <= "z")
    texts = ["a" * 10_000, (letters * 3)[:9000], "ж" * 5001, "中" * 6000]
    assert_equal(*pair, texts)


def test_special_ids(pair):
    ours = pair[0]
    assert (ours.unk_token, ours.unk_token_id) == ("<unk>", ours.token_to_id("<unk>"))
    assert (ours.end_token_id, ours.start_token_id, ours.pad_token_id) == (None, None, 0)
    assert ours.special_tokens == ["<unk>"]
    with pytest.raises(ValueError, match="lacks a special token.*unk_token='<unk>'"):
        GPTBPETokenizer({"a": 0}, [])
    assert GPTBPETokenizer({"a": 0, "?": 1}, [], unk_token="?")("xa").numpy().tolist() == [1, 1]


def test_end_and_pad_token():
    vocabulary = VOCABULARY | {"<end>": len(VOCABULARY), "<pad>": len(VOCABULARY) + 1}
    options = {"end_token": "<end>", "pad_token": "<pad>"}
    tokenizer = GPTBPETokenizer(vocabulary, MERGES, special_tokens_in_strings=True, **options)
    assert tokenizer("play<pad><end>").numpy().tolist() == [6, 7, 13, 12]
    assert tokenizer.start_token_id == tokenizer.end_token_id == 12


def test_an_entry_that_is_the_bare_mark_is_no_word():
    vocabulary = VOCABULARY | {"</w>": len(VOCABULARY), "": len(VOCABULARY) + 1}
    tokenizer = GPTBPETokenizer(vocabulary, MERGES)
    assert tokenizer("play </w>").numpy().tolist() == [6, 7, 0, 0, 0, 0]


@pytest.mark.real_data
@pytest.mark.parametrize("lines", [bbc_news_lines, chinese_review_lines])
def test_some_real_lines(pair, lines):
    assert_equal(*pair, lines()[::29])


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("lines", [bbc_news_lines, chinese_review_lines])
def test_every_real_line(pair, lines):
    lines = list(dict.fromkeys(lines()))
    for start in range(0, len(lines), 4096):
        assert_equal(*pair, lines[start : start + 4096])
