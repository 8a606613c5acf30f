"""Ids, offsets and texts equal those of the `tokenizers` library with `ByteLevel`."""

import pytest
import tensorflow as tf
from bpe_reference import END_OF_TEXT, byte_reference, byte_vocabulary
from hypothesis import given, settings
from hypothesis import strategies as st
from nasty_strings import NASTY_STRINGS
from real_data import bbc_news_lines, chinese_review_lines, gpt2_files

from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary
from kerazoo.tokenizers.byte_bpe import ByteBPETokenizer
from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS

BYTES = {character: number for number, character in enumerate(BYTE_CHARACTERS)}
MERGES = ["Ġ t", "Ġt h", "h e", "Ġth e"]
VOCABULARY = BYTES | {END_OF_TEXT: 256, "Ġt": 257, "Ġth": 258, "he": 259, "Ġthe": 260}


def assert_equal(ours: ByteBPETokenizer, reference, texts: list[str]) -> None:
    """Ids and offsets are equal, and the ids give the text back."""
    ids, starts, ends = ours.tokenize_with_offsets(texts)
    decoded = ours.detokenize(ids).numpy()
    rows = zip(ids.to_list(), starts.to_list(), ends.to_list(), strict=True)
    encodings = reference.encode_batch(texts, add_special_tokens=False)
    for text, row, encoding, back in zip(texts, rows, encodings, decoded, strict=True):
        assert row[0] == encoding.ids, repr(text)
        assert list(zip(row[1], row[2], strict=True)) == encoding.offsets, repr(text)
        assert back == text.encode(), repr(text)


@pytest.fixture(scope="module")
def pair():
    """kerazoo's tokenizer and the reference."""
    return ByteBPETokenizer(*byte_vocabulary()), byte_reference(*byte_vocabulary())


@pytest.fixture(scope="module")
def trusting_pair():
    """The same with special tokens recognised in texts."""
    return (
        ByteBPETokenizer(*byte_vocabulary(), special_tokens_in_strings=True),
        byte_reference(*byte_vocabulary(), [END_OF_TEXT]),
    )


@pytest.fixture(scope="module")
def gpt2_pair():
    """The same with GPT-2's own vocabulary."""
    files = gpt2_files()
    vocabulary = BPEVocabulary(*files)
    return ByteBPETokenizer(*files), byte_reference(vocabulary.ids, vocabulary.merges)


def test_ids_and_offsets():
    tokenizer = ByteBPETokenizer(VOCABULARY, MERGES)
    ids, starts, ends = tokenizer.tokenize_with_offsets(["the theé\n\n", "  the  "])
    assert ids.to_list() == [
        [BYTES["t"], 259, 260, BYTES["Ã"], BYTES["©"], BYTES["Ċ"], BYTES["Ċ"]],
        [BYTES["Ġ"], 260, BYTES["Ġ"], BYTES["Ġ"]],
    ]
    assert starts.to_list() == [[0, 1, 3, 7, 7, 8, 9], [0, 1, 5, 6]]
    assert ends.to_list() == [[1, 3, 7, 8, 8, 9, 10], [1, 5, 6, 7]]


def test_nasty_strings(pair):
    assert_equal(*pair, NASTY_STRINGS)


def test_special_tokens_in_strings(trusting_pair):
    texts = [END_OF_TEXT, f"a  {END_OF_TEXT}  b{END_OF_TEXT}{END_OF_TEXT}", f"é{END_OF_TEXT}中"]
    assert_equal(*trusting_pair, [*texts, f"\n\n{END_OF_TEXT}\n\n", "<|endof text|>"])
    assert_equal(*trusting_pair, NASTY_STRINGS)
    end = trusting_pair[0].end_token_id
    assert [row.count(end) for row in trusting_pair[0](texts).to_list()] == [1, 3, 1]


def test_by_default_a_text_cannot_hold_a_special_token(pair):
    ids = pair[0]([END_OF_TEXT, f"a {END_OF_TEXT}"])
    assert pair[0].end_token_id not in ids.flat_values.numpy()
    assert pair[0].detokenize(ids).numpy().tolist() == [b"<|endoftext|>", b"a <|endoftext|>"]


ANY_CHARACTER = st.characters(exclude_categories=["Cs", "Cn"])
NASTY_CHARACTER = st.sampled_from(sorted(set("".join(NASTY_STRINGS))))
TEXT = st.lists(st.one_of(ANY_CHARACTER, NASTY_CHARACTER, st.sampled_from(" '\nse中a"))).map(
    "".join
)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(texts=st.lists(TEXT, min_size=1, max_size=6))
def test_random_texts(pair, trusting_pair, texts):
    assert_equal(*pair, texts)
    assert_equal(*trusting_pair, [END_OF_TEXT.join(texts)])


def test_slices_of_the_text_hold_the_bytes_of_the_token(pair):
    ids, starts, ends = pair[0].tokenize_with_offsets(NASTY_STRINGS)
    token_bytes = ids.with_values(pair[0].detokenize(ids.values[:, tf.newaxis]))
    rows = zip(token_bytes.to_list(), starts.to_list(), ends.to_list(), strict=True)
    for text, row in zip(NASTY_STRINGS, rows, strict=True):
        for data, start, end in zip(*row, strict=True):
            assert 0 <= start < end <= len(text)
            assert data in text[start:end].encode()


def test_long_words(pair):
    letters = "".join(text for text in NASTY_STRINGS if text.isalpha())
    texts = ["a" * 10_000, letters * 2, "中文" * 3000, " " * 10_001 + "x", "ab" * 5000]
    assert min(map(len, texts)) > 5000
    assert_equal(*pair, texts)


def test_invalid_bytes_become_the_replacement_character(pair):
    texts = tf.constant([b"pl\xffay\xfe a", b"\xff\xfe", b"\xe6\x88", b"a\xc3", b"\xed\xa0\x80"])
    valid = [text.decode("utf-8", "replace") for text in texts.numpy()[:-1]]
    ids = pair[0](texts)
    assert ids[:-1].to_list() == pair[0](valid).to_list()
    assert pair[0].detokenize(ids[:-1]).numpy().tolist() == [text.encode() for text in valid]
    assert pair[0].detokenize(ids)[-1].numpy().decode().strip("\ufffd") == ""


def test_any_ids_give_their_bytes(pair):
    tokens = [BYTE_CHARACTERS[byte] for byte in b"\xe4\xb8\xff a"]
    ids = [pair[0].token_to_id(token) for token in tokens]
    assert pair[0].detokenize(ids).numpy() == b"\xe4\xb8\xff a"


def test_special_ids(pair):
    ours = pair[0]
    end = ours.token_to_id(END_OF_TEXT)
    assert (ours.end_token_id, ours.start_token_id, ours.pad_token_id) == (end, end, end)
    assert (ours.special_tokens, ours.special_token_ids) == ([END_OF_TEXT], [end])
    assert ours.unknown_rate(NASTY_STRINGS) == 0.0


def test_the_alphabet_must_be_complete():
    incomplete = [entry for entry in VOCABULARY if entry not in ("Ċ", "Ā")]
    vocabulary = {entry: number for number, entry in enumerate(incomplete)}
    with pytest.raises(ValueError, match="256 bytes, but lacks 2.*no entries 'Ā', 'Ċ'$"):
        ByteBPETokenizer(vocabulary, MERGES)
    with pytest.raises(ValueError, match="lacks 256.*, …$"):
        ByteBPETokenizer({END_OF_TEXT: 0}, [])


def test_without_an_end_token():
    tokenizer = ByteBPETokenizer(BYTES, [], end_token=None)
    assert tokenizer.end_token_id is None
    assert tokenizer.start_token_id is None
    assert tokenizer.special_token_ids == []
    assert tokenizer("hi").numpy().tolist() == [BYTES["h"], BYTES["i"]]
    with pytest.raises(ValueError, match="end_token='<.endoftext.>'"):
        ByteBPETokenizer(BYTES, [])


@pytest.mark.real_data
def test_nasty_strings_with_gpt2s_vocabulary(gpt2_pair):
    assert gpt2_pair[0].vocabulary_size() == 50_257
    assert_equal(*gpt2_pair, NASTY_STRINGS)
    ids = gpt2_pair[0]("Hello world, don't!\n\n.").numpy().tolist()
    assert ids == [15496, 995, 11, 836, 470, 0, 198, 198, 13]
    assert gpt2_pair[0].end_token_id == 50_256


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("lines", [bbc_news_lines, chinese_review_lines])
def test_every_line_with_gpt2s_vocabulary(gpt2_pair, lines):
    lines = lines()
    assert len(lines) > 25_000
    lines = list(dict.fromkeys(lines))
    for start in range(0, len(lines), 4096):
        assert_equal(*gpt2_pair, lines[start : start + 4096])


@pytest.mark.real_data
def test_long_words_with_gpt2s_vocabulary(gpt2_pair):
    letters = "".join(c for line in bbc_news_lines()[:120] for c in line if c.isalpha())
    han = "".join(c for line in chinese_review_lines()[:900] for c in line if "一" <= c <= "龥")
    assert_equal(*gpt2_pair, [letters[:3000], han[:10_000], "a" * 10_000, "=-" * 2000])
