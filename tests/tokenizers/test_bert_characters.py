import pytest
import tensorflow as tf

from kerazoo.tokenizers.bert_characters import HAN, PUNCTUATION, WHITE_SPACE


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (
            WHITE_SPACE,
            " \t\n\r\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000",
            "a\u200b\x0b\x85.",
        ),
        (PUNCTUATION, "!/:@[`{~$+<=>^|-–、¿।", "a1 é€中"),
        (
            HAN,
            "一龯㐀䶿\U00020000\U0002a6d6\U0002a700\U0002b740\U0002b820豈\U0002f800",
            "aぁ가々〆",
        ),
    ],
)
def test_classes(pattern, inside, outside):
    for character in inside:
        assert tf.strings.regex_full_match(character, pattern), repr(character)
    for character in outside:
        assert not tf.strings.regex_full_match(character, pattern), repr(character)
