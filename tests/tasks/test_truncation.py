import warnings

import pytest
import tensorflow as tf

from kerazoo.tasks.truncation import TruncationWarning, warn_of_truncated


class Preprocessor:
    """Reads five letters."""

    sequence_length = 5

    def count_truncated(self, columns):
        return int(tf.math.count_nonzero(tf.strings.length(columns["text"]) > 5))


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["ada", "charles", "ida"], "1 of 3 texts is longer than 5 tokens and is truncated"),
        (["babbage", "charles"], "2 of 2 texts are longer than 5 tokens and are truncated"),
    ],
)
def test_texts_are_counted(texts, said):
    with pytest.warns(TruncationWarning, match=said):
        warn_of_truncated(Preprocessor(), {"text": tf.constant(texts)}, len(texts))


def warnings_of(*arguments, silenced=()):
    """What is warned of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for kind in silenced:
            warnings.simplefilter("ignore", kind)
        warn_of_truncated(*arguments)
    return [type(entry.message) for entry in said]


@pytest.mark.parametrize("preprocessor", [None, Preprocessor()])
def test_nothing_is_said_of_nothing(preprocessor):
    assert warnings_of(preprocessor, {"text": tf.constant(["ada", "ida"])}, 2) == []


@pytest.mark.parametrize("texts", [["charles"], ["babbage", "charles"]])
def test_one_kind_of_warning_is_silenced_whatever_the_number(texts):
    given = Preprocessor(), {"text": tf.constant(texts)}, len(texts)
    assert warnings_of(*given) == [TruncationWarning]
    assert warnings_of(*given, silenced=[TruncationWarning]) == []
