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
        warn_of_truncated(Preprocessor(), {"text": tf.constant(texts)})


@pytest.mark.parametrize("preprocessor", [None, Preprocessor()])
def test_nothing_is_said_of_nothing(preprocessor):
    warn_of_truncated(preprocessor, {"text": tf.constant(["ada", "ida"])})


def test_one_kind_of_warning_is_silenced_whatever_the_number():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TruncationWarning)
        warn_of_truncated(Preprocessor(), {"text": tf.constant(["charles"])})
