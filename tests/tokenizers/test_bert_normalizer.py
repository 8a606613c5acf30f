import itertools
import os
import subprocess
import sys
import unicodedata

import pytest
import tensorflow as tf
from huggingface_differences import CAPITALS, COMBINING_MARKS, FORMAT_CHARACTERS
from nasty_strings import NASTY_STRINGS
from tokenizers import normalizers

from kerazoo.tokenizers.bert_normalizer import BertNormalizer

FLAGS = list(itertools.product([True, False], repeat=2))
# Whitespace is made a plain space by the reference here, and by the word splitter in kerazoo.
TO_SPACE = {ord(c): " " for c in map(chr, range(0x3001)) if c.isspace()}


def normalize(text: str, lowercase=True, strip_accents=True, map_quotes=False) -> str:
    normalizer = BertNormalizer(lowercase, strip_accents, map_quotes, keep_reserved=False)
    return normalizer(tf.constant([text])).numpy()[0].decode("utf-8")


@pytest.mark.parametrize(
    ("text", "lowercase", "strip_accents", "expected"),
    [
        ("hacía möchte", True, True, "hacia mochte"),
        ("Hacía Möchte", True, False, "hacía möchte"),
        ("Hacía Möchte", False, True, "Hacia Mochte"),
        ("Hacía Möchte", False, False, "Hacía Möchte"),
        ("ΟΔΟΣ", True, False, "οδοσ"),  # no final sigma: each letter on its own
        ("İzmir IŞIK ılık", True, True, "izmir isik ılık"),
        ("İ", True, False, "i\u0307"),
        ("がか", True, True, "かか"),
        ("がか", False, False, "がか"),
        ("\u1e9eß", True, True, "ßß"),  # no case folding to ss
        ("Ａ ﬁ ½", True, True, "ａ ﬁ ½"),  # no compatibility forms
        ("a\x00b\x07c\u200bd\ufffde\ue000f\u00adg", True, True, "abcdefg"),
        ("\U000f0000\U000ffffd\U00100000\U0010ffef\U0010fff0\U0010fffd", True, True, ""),
        ("data\tbase\none\rx", True, True, "data\tbase\none\rx"),
    ],
)
def test_steps(text, lowercase, strip_accents, expected):
    assert normalize(text, lowercase, strip_accents) == expected


def test_map_quotes():
    text = "“a” ‘b’ „c‟ ‚d‛ e…"
    assert normalize(text, map_quotes=True) == "\"a\" 'b' \"c\" 'd' e..."
    assert normalize(text) == text


def test_reserved_characters_are_kept_on_request():
    text = tf.constant(["a\U0010fff0b\U0010fffdc\U0010ffefd"])
    kept = BertNormalizer(True, True, False, keep_reserved=True)(text).numpy()[0].decode("utf-8")
    assert kept == "a\U0010fff0b\U0010fffdcd"


def test_shape_is_kept():
    texts = tf.constant([["A", "B", "C"], ["D", "E", "F"]])
    normalized = BertNormalizer(True, True, False, keep_reserved=False)(texts)
    assert normalized.numpy().tolist() == [[b"a", b"b", b"c"], [b"d", b"e", b"f"]]


@pytest.mark.parametrize(("lowercase", "strip_accents"), FLAGS)
def test_each_character_is_mapped_on_its_own(lowercase, strip_accents):
    normalizer = BertNormalizer(lowercase, strip_accents, map_quotes=True, keep_reserved=False)
    texts = [text for text in NASTY_STRINGS if len(text) < 100]
    whole = tf.strings.length(normalizer(tf.constant(texts)))
    characters = tf.ragged.constant([list(text) for text in texts], dtype=tf.string)
    each = tf.ragged.map_flat_values(lambda c: tf.strings.length(normalizer(c)), characters)
    assert whole.numpy().tolist() == tf.reduce_sum(each, axis=1).numpy().tolist()


@pytest.mark.parametrize(("lowercase", "strip_accents"), FLAGS)
def test_every_assigned_character_is_normalised_as_by_hugging_face(lowercase, strip_accents):
    characters = [
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) not in ("Cn", "Cs", "Co")
        and not (0xAC00 < code < 0xD7A3 and code % 29)  # Hangul syllables: one in 29
        and not (0x3400 < code < 0x9FFF and code % 29)  # Han characters too
        and not (0x20000 < code < 0x323AF and code % 29)
    ]
    reference = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=False,
        strip_accents=strip_accents,
        lowercase=lowercase,
    )
    normalizer = BertNormalizer(lowercase, strip_accents, map_quotes=False, keep_reserved=False)
    ours = [form.decode("utf-8") for form in normalizer(tf.constant(characters)).numpy()]
    different = {
        ord(character)
        for character, form in zip(characters, ours, strict=True)
        if form.translate(TO_SPACE) != reference.normalize_str(character)
    }
    documented = set(FORMAT_CHARACTERS)
    if strip_accents:
        documented |= COMBINING_MARKS
    if lowercase:
        documented |= CAPITALS
    assert different <= documented
    assert len(characters) > 30_000


@pytest.mark.slow
@pytest.mark.parametrize("language", ["tr_TR", "lt_LT"])
def test_the_locale_of_the_machine_does_not_matter(language):
    text = "TITLE I İ Ì Í Ĩ Į̀ J̀ ΟΔΟΣ"
    script = (
        "import tensorflow as tf;"
        "from kerazoo.tokenizers.bert_normalizer import BertNormalizer;"
        f"print([BertNormalizer(True, s, False, False)(tf.constant([{text!r}])).numpy()[0]"
        " for s in (True, False)])"
    )
    environment = os.environ | {"LC_ALL": f"{language}.UTF-8", "LANG": f"{language}.UTF-8"}
    process = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    here = [normalize(text, True, strip).encode("utf-8") for strip in (True, False)]
    assert process.stdout.strip() == str(here)
