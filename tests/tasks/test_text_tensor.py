import pytest

from kerazoo.tasks.question_columns import question_columns
from kerazoo.tasks.raw_inputs import text_columns
from kerazoo.tasks.tagged_columns import tagged_columns
from kerazoo.tasks.text_tensor import text_tensor

HALF = "a \ud83d"


def test_texts_are_strings_or_bytes():
    assert text_tensor(["Ada", "小".encode(), ""]).numpy().tolist() == [b"Ada", "小".encode(), b""]
    assert text_tensor([]).shape == (0,)


@pytest.mark.parametrize(
    "columns",
    [
        lambda: text_tensor(["b", HALF, HALF]),
        lambda: text_columns(["b", HALF]),
        lambda: tagged_columns(["b", HALF]),
        lambda: tagged_columns([["b", "c", "d"], ["e", HALF]]),
        lambda: question_columns({"question": ["b", "c"], "context": ["c", HALF]}),
    ],
)
def test_half_a_surrogate_pair_names_its_row(columns):
    with pytest.raises(ValueError, match=r"Row 1 holds half a surrogate pair.*Received: '\\ud83d'"):
        columns()
