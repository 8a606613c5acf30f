import pytest
import tensorflow as tf

from kerazoo.tokenizers.wordpiece_encoder import WordPieceEncoder

VOCABULARY = [
    "[UNK]",
    "[MASK]",
    "great",
    "a",
    "##b",
    "☆",
    '"',
    ".",
    "我",
    "爱",
    "é",
    "e",
    "\U0010fff1",
]


def make_encoder(**options) -> WordPieceEncoder:
    defaults = {
        "lowercase": True,
        "strip_accents": True,
        "split_on_cjk": True,
        "special_tokens": (),
        "max_characters_per_word": 100,
        "split_unknown": False,
        "map_quotes": False,
    }
    return WordPieceEncoder(VOCABULARY, "[UNK]", **(defaults | options))


def encode(text: str, **options) -> list[tuple[str, str]]:
    """Each token beside the characters that it covers."""
    encoder = make_encoder(**options)
    texts = tf.constant(["a", text, ""])
    ids, starts, ends = encoder.encode_with_offsets(texts)
    assert encoder.encode(texts).to_list() == ids.to_list()
    row = zip(ids[1].numpy(), starts[1].numpy(), ends[1].numpy(), strict=True)
    return [(VOCABULARY[i], text[start:end]) for i, start, end in row]


def test_defaults():
    assert encode("Great ab É我爱.") == [
        ("great", "Great"),
        ("a", "a"),
        ("##b", "b"),
        ("e", "É"),
        ("我", "我"),
        ("爱", "爱"),
        (".", "."),
    ]


def test_cased():
    assert encode("Great é", lowercase=False, strip_accents=False) == [
        ("[UNK]", "Great"),
        ("é", "é"),
    ]


def test_special_tokens():
    text = "A[MASK]. [mask]"
    brackets = [("[UNK]", c) for c in ("[", "mask", "]")]
    special = encode(text, special_tokens=["[MASK]", "[UNK]"])
    assert special == [("a", "A"), ("[MASK]", "[MASK]"), (".", "."), *brackets]
    upper = [("[UNK]", c) for c in ("[", "MASK", "]")]
    assert encode(text) == [("a", "A"), *upper, (".", "."), *brackets]


def test_a_reserved_character_in_vocabulary_and_text_is_no_special_token():
    assert encode("a \U0010fff1", special_tokens=["[MASK]"]) == [("a", "a")]
    assert encode("a \U0010fff1") == [("a", "a")]


@pytest.mark.parametrize("split_on_cjk", [True, False])
def test_split_unknown(split_on_cjk):
    options = {"split_unknown": True, "split_on_cjk": split_on_cjk}
    assert encode("great🎉", **options) == [("great", "great"), ("[UNK]", "🎉")]
    assert encode("great👍🏽🎉a", **options) == [
        ("great", "great"),
        ("[UNK]", "👍🏽🎉"),
        ("a", "a"),
    ]
    assert encode("a★☆☆b", **options) == [
        ("a", "a"),
        ("[UNK]", "★"),
        ("☆", "☆"),
        ("☆", "☆"),
        ("[UNK]", "b"),
    ]
    assert encode("great🎉") == [("[UNK]", "great🎉")]


def test_map_quotes():
    assert encode("“a…”", map_quotes=True) == [
        ('"', "“"),
        ("a", "a"),
        (".", "…"),
        (".", "…"),
        (".", "…"),
        ('"', "”"),
    ]
    assert encode("“a…”") == [("[UNK]", "“"), ("a", "a"), ("[UNK]", "…"), ("[UNK]", "”")]


def test_all_options_together():
    options = {"special_tokens": ["[MASK]"], "split_unknown": True, "map_quotes": True}
    assert encode("“[MASK]🎉", **options) == [('"', "“"), ("[MASK]", "[MASK]"), ("[UNK]", "🎉")]


def test_limit_on_words():
    assert encode("ab abb", max_characters_per_word=2) == [
        ("a", "a"),
        ("##b", "b"),
        ("[UNK]", "abb"),
    ]


def test_decode():
    ids = tf.ragged.constant([[2, 3, 4], [8, 9], []], dtype=tf.int32)
    texts = make_encoder().decode(ids).numpy().tolist()
    assert texts == [b"great ab", "我爱".encode(), b""]


def test_entries_and_ids():
    encoder = make_encoder()
    assert encoder.vocabulary == tuple(VOCABULARY)
    assert encoder.ids == {entry: number for number, entry in enumerate(VOCABULARY)}
