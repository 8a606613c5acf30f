"""Ids and offsets equal those of Hugging Face's fast tokenizer, save for what the docs list."""

import itertools
import unicodedata

import pytest
import tensorflow as tf
from huggingface_differences import DIFFERENT, FORMAT_CHARACTERS, HAN, PUNCTUATION
from huggingface_tokenizer import (
    SPECIAL_TOKENS,
    encode,
    reference_tokenizer,
    write_tokenizer_folder,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_strings import NASTY_STRINGS
from real_data import (
    bbc_news_lines,
    chinese_review_lines,
    chinese_vocabulary_file,
    minilm_folder,
)

from kerazoo.tokenizers.vocabulary_file import read_vocabulary
from kerazoo.tokenizers.wordpiece import WordPieceTokenizer

LOWERCASE = [True, False]
STRIP_ACCENTS = [None, True, False]
JOINERS = {"\u200c", "\u200d", "\u2060", *map(chr, range(0xE0020, 0xE0080))}


def vocabulary_of(texts: list[str]) -> list[str]:
    """Most characters of some texts in every normal form, as words and as pieces."""
    text = " ".join(texts)
    text += text.lower() + unicodedata.normalize("NFD", text + text.lower())
    characters = sorted(set(text) - set(" \n"))
    words = [c for number, c in enumerate(characters) if number % 5]
    pieces = [f"##{c}" for number, c in enumerate(characters) if number % 4]
    return list(dict.fromkeys([*SPECIAL_TOKENS, *words, *pieces, "the", "##ing", "中文", "a.b"]))


NASTY_VOCABULARY = vocabulary_of(NASTY_STRINGS)


def belongs_to_the_character_before(text: str) -> bool:
    return all(unicodedata.category(c).startswith("M") or c in JOINERS for c in text)


def assert_equal(ours: WordPieceTokenizer, reference, texts: list[str]) -> None:
    """Ids are equal; so are offsets, but that ours include deleted marks after a token."""
    ids, starts, ends = (x.to_list() for x in ours.tokenize_with_offsets(texts))
    for number, encoding in enumerate(encode(reference, texts)):
        text = texts[number]
        assert ids[number] == encoding.ids, f"{text!r}: {encoding.tokens}"
        spans = list(zip(starts[number], ends[number], strict=True))
        if spans != encoding.offsets:
            for (start, end), (their_start, their_end) in zip(spans, encoding.offsets, strict=True):
                assert start == their_start and end >= their_end, repr(text)
                assert belongs_to_the_character_before(text[their_end:end]), repr(text)


def test_the_table_is_long_and_without_repetition():
    assert len(NASTY_STRINGS) == len(set(NASTY_STRINGS)) >= 200


@pytest.mark.parametrize("special_tokens_in_strings", [False, True])
@pytest.mark.parametrize("split_on_cjk", [True, False])
@pytest.mark.parametrize("strip_accents", STRIP_ACCENTS)
@pytest.mark.parametrize("lowercase", LOWERCASE)
def test_nasty_strings(lowercase, strip_accents, split_on_cjk, special_tokens_in_strings):
    options = {
        "lowercase": lowercase,
        "strip_accents": strip_accents,
        "split_on_cjk": split_on_cjk,
        "special_tokens_in_strings": special_tokens_in_strings,
    }
    ours = WordPieceTokenizer(NASTY_VOCABULARY, **options)
    reference = reference_tokenizer(NASTY_VOCABULARY, **options)
    assert_equal(ours, reference, NASTY_STRINGS)


@pytest.mark.parametrize("split_on_cjk", [True, False])
def test_words_are_split_at_the_same_characters(split_on_cjk):
    vocabulary = [*SPECIAL_TOKENS, "a", "b", "##a", "##b"]
    options = {"lowercase": False, "split_on_cjk": split_on_cjk}
    codes = [
        code
        for code in range(0x80, 0x110000)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co", "Lo")
        or code % 97 == 0
        and not 0xD800 <= code < 0xE000
    ]
    codes += [0x3400, 0x4DBF, 0x4E00, 0x9FFF, 0xF900, 0xFAFF, 0x20000, 0x2A6DF, 0x2A700, 0x2B73F]
    codes += [0x2B740, 0x2B81F, 0x2B820, 0x2B920, 0x2CEAF, 0x2CEB0, 0x2F800, 0x2FA1F, 0x30000]
    texts = [f"a{chr(code)}b" for code in codes]
    ids = WordPieceTokenizer(vocabulary, **options)(texts).to_list()
    references = encode(reference_tokenizer(vocabulary, **options), texts)
    different = {
        code
        for code, ours, theirs in zip(codes, ids, references, strict=True)
        if ours != theirs.ids
    }
    assert different <= FORMAT_CHARACTERS | PUNCTUATION | HAN
    assert len(codes) > 25_000


ANY_CHARACTER = st.characters(exclude_categories=["Cs"]).filter(lambda c: ord(c) not in DIFFERENT)
NASTY_CHARACTER = st.sampled_from(sorted(set("".join(NASTY_STRINGS))))
TEXT = st.lists(st.one_of(ANY_CHARACTER, NASTY_CHARACTER, st.sampled_from("aB .é中\u0301"))).map(
    "".join
)


@pytest.fixture(scope="module")
def pairs():
    """kerazoo's tokenizer and the reference for every combination of flags."""
    return [
        (
            WordPieceTokenizer(NASTY_VOCABULARY, lowercase=lowercase, strip_accents=strip),
            reference_tokenizer(NASTY_VOCABULARY, lowercase, strip),
        )
        for lowercase, strip in itertools.product(LOWERCASE, [True, False])
    ]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=6))
def test_random_texts(pairs, texts):
    for ours, reference in pairs:
        assert_equal(ours, reference, texts)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=6))
def test_the_normalised_slice_of_the_original_is_the_token(pairs, texts):
    for tokenizer, _ in pairs:
        normalize = tokenizer._encoder._normalize
        for row, text in zip(
            zip(*(x.to_list() for x in tokenizer.tokenize_with_offsets(texts)), strict=True),
            texts,
            strict=True,
        ):
            ids, starts, ends = row
            assert starts == sorted(starts)
            assert all(0 <= s < e <= len(text) for s, e in zip(starts, ends, strict=True))
            slices = [text[s:e] for s, e in zip(starts, ends, strict=True)]
            forms = normalize(tf.constant(slices, tf.string)).numpy()
            for number, form, piece in zip(ids, forms, slices, strict=True):
                token = tokenizer.id_to_token(number).removeprefix("##")
                form = form.decode("utf-8")
                if token == "[UNK]":
                    assert form and not any(c.isspace() for c in form)
                elif len(normalize(tf.constant(piece[0])).numpy().decode("utf-8")) == 1:
                    assert form == token
                else:  # one character became several, and this token is some of them
                    assert token in form


def check_real_lines(lines: list[str], vocabulary: list[str], lowercase: bool, strip: bool) -> None:
    lines = list(dict.fromkeys(lines))
    ours = WordPieceTokenizer(vocabulary, lowercase=lowercase, strip_accents=strip)
    reference = reference_tokenizer(vocabulary, lowercase, strip)
    for start in range(0, len(lines), 4096):
        texts = lines[start : start + 4096]
        ids, starts, ends = (x.to_list() for x in ours.tokenize_with_offsets(texts))
        encodings = encode(reference, texts)
        assert ids == [encoding.ids for encoding in encodings]
        spans = [list(zip(s, e, strict=True)) for s, e in zip(starts, ends, strict=True)]
        assert spans == [encoding.offsets for encoding in encodings]


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("strip_accents", [True, False])
@pytest.mark.parametrize("lowercase", LOWERCASE)
def test_every_line_of_bbc_news(lowercase, strip_accents):
    lines = bbc_news_lines()
    assert len(lines) > 25_000
    vocabulary = read_vocabulary(minilm_folder() / "vocab.txt")
    check_real_lines(lines, vocabulary, lowercase, strip_accents)


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("strip_accents", [True, False])
@pytest.mark.parametrize("lowercase", LOWERCASE)
def test_every_line_of_the_chinese_reviews(lowercase, strip_accents):
    lines = chinese_review_lines()
    assert len(lines) > 35_000
    vocabulary = read_vocabulary(chinese_vocabulary_file())
    check_real_lines(lines, vocabulary, lowercase, strip_accents)


@pytest.mark.real_data
@pytest.mark.parametrize("strip_accents", STRIP_ACCENTS)
@pytest.mark.parametrize("lowercase", LOWERCASE)
@pytest.mark.parametrize("language", ["English", "Chinese"])
def test_nasty_strings_with_real_vocabularies(language, lowercase, strip_accents):
    english = minilm_folder() / "vocab.txt"
    vocabulary = read_vocabulary(english if language == "English" else chinese_vocabulary_file())
    ours = WordPieceTokenizer(vocabulary, lowercase=lowercase, strip_accents=strip_accents)
    assert_equal(ours, reference_tokenizer(vocabulary, lowercase, strip_accents), NASTY_STRINGS)


@pytest.mark.transformers
@pytest.mark.parametrize("strip_accents", STRIP_ACCENTS)
@pytest.mark.parametrize("lowercase", LOWERCASE)
def test_transformers_itself(tmp_path, lowercase, strip_accents):
    from transformers import AutoTokenizer

    folder = write_tokenizer_folder(tmp_path, NASTY_VOCABULARY, lowercase, strip_accents)
    theirs = AutoTokenizer.from_pretrained(folder)
    assert theirs.is_fast
    ours = WordPieceTokenizer(
        NASTY_VOCABULARY,
        lowercase=lowercase,
        strip_accents=strip_accents,
        special_tokens_in_strings=True,
    )
    expected = theirs(NASTY_STRINGS, add_special_tokens=False)["input_ids"]
    assert ours(NASTY_STRINGS).to_list() == expected


@pytest.mark.transformers
@pytest.mark.real_data
def test_transformers_with_the_minilm_folder():
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(minilm_folder())
    texts = bbc_news_lines()[:2000] + NASTY_STRINGS
    ours = WordPieceTokenizer(minilm_folder() / "vocab.txt", special_tokens_in_strings=True)
    # The folder's tokenizer pads and cuts at 128 tokens.
    expected = theirs(texts, add_special_tokens=False, padding=False, truncation=False)["input_ids"]
    assert ours(texts).to_list() == expected
