import numpy as np
import pytest
import tensorflow as tf
from tiny_extractive_qa import LONG, ROWS, answers, questions, tiny_tokenizer

from kerazoo.preprocessing.answer_tokens import answer_positions, check_answers
from kerazoo.preprocessing.passage_windows import passage_windows


def positions(rows=ROWS, spans=None, **options):
    columns = questions(rows)
    passages = passage_windows(
        tiny_tokenizer(), columns["question"], columns["context"], 16, 5, **options
    )
    if spans is None:
        spans = [(-1, -2) if a is None else (a[1], a[1] + len(a[0])) for a in answers(rows)]
    starts, ends = tf.constant(spans, tf.int32)[:, 0], tf.constant(spans, tf.int32)[:, 1]
    first, last = answer_positions(passages, starts, ends)
    return passages, first.numpy(), last.numpy()


def slice_of(passages, row, first, last):
    """The text from the first to the last token of a window."""
    document = int(passages.windows.document[row])
    shift = int(passages.windows.first[row]) - int(passages.begin[row])
    start = passages.starts[document, first + shift]
    end = passages.ends[document, last + shift]
    return ROWS[document][1][int(start) : int(end)]


@pytest.mark.parametrize("null_at_end", [False, True])
def test_windows_with_the_answer_point_to_it_and_the_others_to_no_answer(null_at_end):
    passages, first, last = positions(null_at_end=null_at_end)
    found = np.zeros(len(ROWS), int)
    for row, document in enumerate(passages.windows.document.numpy()):
        answer = ROWS[document][2]
        null = int(passages.null_position[row])
        if first[row] == null:
            assert last[row] == null
        else:
            assert slice_of(passages, row, first[row], last[row]) == answer
            found[document] += 1
    assert found.tolist()[:3] == [1, 1, 1]
    assert found[4] == 1
    assert found[5] == 0
    # Of the long passage some windows hold the answer and some do not.
    assert 0 < found[3] < (passages.windows.document.numpy() == 3).sum()


def test_an_answer_within_a_token_takes_the_token():
    # "on|day A|da" of "on monday ada".
    start = LONG.index("onday")
    passages, first, last = positions([("who", LONG, None)], [(start, start + len("onday A"))])
    assert slice_of_long(passages, first[0], last[0]) == "Monday Ada"


def slice_of_long(passages, first, last):
    shift = int(passages.windows.first[0]) - int(passages.begin[0])
    start, end = passages.starts[0, first + shift], passages.ends[0, last + shift]
    return LONG[int(start) : int(end)]


def test_an_answer_cut_by_the_window_is_not_in_it():
    passages, first, _ = positions([("who", "a " * 20, None)], [(20, 27)])  # tokens 10 to 13
    firsts = passages.windows.first.numpy()
    assert firsts.tolist() == [0, 5, 10]
    assert (first != 0).tolist() == [False, True, True]


def test_an_answer_of_white_space_is_none():
    _, first, last = positions([("who", "a a", None)], [(1, 2)])
    assert first.tolist() == last.tolist() == [0]


@pytest.mark.parametrize(
    ("answer", "start"),
    [("Ada", 9), ("Ada", 100), ("", 3), ("Adam", 10)],
)
def test_an_answer_that_is_no_slice_is_refused(answer, start):
    context = tf.constant(["On Monday Ada came.", "小明和猫"])
    check_answers(context, tf.constant(["Ada", "和猫"]), tf.constant([10, 2]))
    check_answers(context, tf.constant(["", ""]), tf.constant([-1, -1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="slice of its context"):
        check_answers(context, tf.constant(["和猫", answer])[::-1], tf.constant([start, 2]))
