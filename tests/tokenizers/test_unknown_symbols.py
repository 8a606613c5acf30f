import re

import pytest
import tensorflow as tf

from kerazoo.tokenizers.bert_normalizer import BertNormalizer
from kerazoo.tokenizers.unknown_symbols import unknown_symbol_runs

UNCASED = BertNormalizer(True, True, map_quotes=False, keep_reserved=True)


def split(text: str, vocabulary: list[str], normalizer=UNCASED) -> list[str]:
    pattern = unknown_symbol_runs(vocabulary, normalizer)
    marked = tf.strings.regex_replace(tf.constant([text]), pattern, r"<\0>").numpy()[0]
    return re.findall("<(.*?)>", marked.decode("utf-8"))


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        ("great🎉", ["🎉"]),
        ("🎉🎊a🎉", ["🎉🎊", "🎉"]),
        ("ok 👍🏽!", ["👍🏽"]),
        ("👨\u200d👩\u200d👧x", ["👨\u200d👩\u200d👧"]),
        ("❤️ 🇩🇪", ["❤️", "🇩🇪"]),
        ("25°C €5", ["°", "€"]),
        ("1\u20e3", ["\u20e3"]),
        ("🫠🪿", ["🫠🪿"]),
        ("plain, text. 中文 é Ж $+=", []),
    ],
)
def test_runs_of_unknown_symbols(text, runs):
    assert split(text, ["great", "ok", "a"]) == runs


def test_a_symbol_that_can_continue_a_word_stays():
    assert split("25°C 5☆", ["°", "##°"]) == ["☆"]


def test_a_symbol_known_as_a_word_is_split_off_alone():
    assert split("nice★☆☆★★", ["★"]) == ["★", "☆☆", "★", "★"]


def test_the_vocabulary_is_asked_for_the_normal_form():
    assert split("Ⓐ", ["##ⓐ"]) == []
    cased = BertNormalizer(False, False, map_quotes=False, keep_reserved=True)
    assert split("Ⓐ", ["##ⓐ"], cased) == ["Ⓐ"]


def test_a_symbol_that_decomposes_to_punctuation_is_no_symbol():
    assert split("x≠y", []) == []


def test_a_vocabulary_that_knows_every_symbol_leaves_nothing_to_split():
    everything = [f"##{chr(code)}" for code in range(0x80, 0x20000)]
    assert split("great🎉 25°C Ⓐ ☆", everything) == []
