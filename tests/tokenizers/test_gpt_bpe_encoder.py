import pytest
import tensorflow as tf
from bpe_reference import gpt_vocabulary
from nasty_strings import NASTY_STRINGS

from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary
from kerazoo.tokenizers.gpt_bpe_encoder import GPTBPEEncoder

ENTRIES = ["?", "a", "b", "b</w>", "ab", "ab</w>", "a</w>", "<x>"]


def make(special_tokens=None, **options):
    vocabulary = BPEVocabulary({e: n for n, e in enumerate(ENTRIES)}, ["a b", "a b</w>"])
    options = {"lowercase": True, "strip_accents": True} | options
    return GPTBPEEncoder(vocabulary, special_tokens or {}, ["<s>"], unknown_token="?", **options)


def test_both_encodings_agree():
    vocabulary = BPEVocabulary(*gpt_vocabulary())
    options = {"unknown_token": "<unk>", "lowercase": True, "strip_accents": True}
    encoder = GPTBPEEncoder(vocabulary, {}, [], **options)
    texts = tf.constant(NASTY_STRINGS)
    assert encoder.encode(texts).to_list() == encoder.encode_with_offsets(texts)[0].to_list()


def test_the_last_character_has_a_symbol_of_its_own():
    texts = tf.constant(["abab ab b a c", "ABÁ"])
    assert make().encode(texts).to_list() == [[4, 5, 5, 3, 6, 0], [4, 6]]


@pytest.mark.parametrize(
    ("lowercase", "strip_accents", "ids"),
    [(True, True, [4, 6]), (True, False, [4, 0]), (False, True, [0, 0, 0])],
)
def test_normalisation(lowercase, strip_accents, ids):
    encoder = make(lowercase=lowercase, strip_accents=strip_accents)
    assert encoder.encode(tf.constant(["ABÁ"])).to_list() == [ids]


def test_special_tokens():
    texts = tf.constant(["ab<x>b", "<X>"])
    assert make({"<x>": 7}).encode(texts).to_list() == [[5, 7, 3], [0, 0, 0]]
    assert make().encode(texts).to_list() == [[5, 0, 0, 0, 3], [0, 0, 0]]


def test_decode():
    ids = tf.ragged.constant([[8, 4, 3, 5], [], [4, 1], [7], [6]])
    assert make().decode(ids).numpy().tolist() == [b"<s>abb ab", b"", b"aba", b"<x>", b"a"]
