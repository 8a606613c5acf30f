import numpy as np
import pytest
import tensorflow as tf
from tiny_extractive_qa import ROWS, questions, tiny_tokenizer

from kerazoo.preprocessing.passage_windows import passage_windows


def read(rows=ROWS, sequence_length=16, stride=5, **options):
    columns = questions(rows)
    return passage_windows(
        tiny_tokenizer(),
        columns["question"],
        columns["context"],
        sequence_length,
        stride,
        **options,
    )


def tokens_of(passages, row):
    """The tokens of a row, padding left out."""
    entries = tiny_tokenizer().get_vocabulary()
    ids = passages.features["token_ids"][row].numpy()
    return [entries[i] for i in ids[passages.features["padding_mask"][row].numpy() == 1]]


def test_the_whole_question_stands_before_each_window():
    passages = read()
    documents = passages.windows.document.numpy()
    assert set(documents) == set(range(len(ROWS)))
    assert (documents == 3).sum() > 3
    for row, document in enumerate(documents):
        asked = [
            tiny_tokenizer().id_to_token(i) for i in tiny_tokenizer()(ROWS[document][0]).numpy()
        ]
        tokens = tokens_of(passages, row)
        assert tokens[: len(asked) + 2] == ["[CLS]", *asked, "[SEP]"]
        assert tokens[-1] == "[SEP]"
        assert passages.begin[row] == len(asked) + 2


def test_each_passage_is_read_whole_and_its_windows_overlap():
    passages = read()
    for document, (_, context, _) in enumerate(ROWS):
        ids = tiny_tokenizer()(context).numpy()
        seen = np.zeros(len(ids), int)
        for row in np.flatnonzero(passages.windows.document.numpy() == document):
            first, length = int(passages.windows.first[row]), int(passages.windows.length[row])
            begin = int(passages.begin[row])
            found = passages.features["token_ids"][row, begin : begin + length]
            assert found.numpy().tolist() == ids[first : first + length].tolist()
            seen[first : first + length] += 1
        assert (seen >= 1).all()
        if document == 3:
            assert (seen > 1).any()


@pytest.mark.parametrize("null_at_end", [False, True])
def test_answers_may_stand_in_the_passage_and_at_one_special_token(null_at_end):
    passages = read(null_at_end=null_at_end)
    mask = passages.features["answer_mask"].numpy()
    for row in range(len(mask)):
        begin, length = int(passages.begin[row]), int(passages.windows.length[row])
        null = begin + length if null_at_end else 0
        assert passages.null_position[row] == null
        assert np.flatnonzero(mask[row]).tolist() == sorted([null, *range(begin, begin + length)])


def test_offsets_are_characters_of_the_passage():
    passages = read()
    for document, (_, context, _) in enumerate(ROWS):
        starts, ends = passages.starts[document].numpy(), passages.ends[document].numpy()
        assert len(starts) == len(tiny_tokenizer()(context))
        slices = [context[s:e] for s, e in zip(starts, ends, strict=True)]
        assert "".join(slices) == "".join(context.split())


def test_a_passage_asked_about_twice_is_the_same_each_time():
    twice = read([ROWS[3], ROWS[0], ROWS[3]])
    documents = twice.windows.document.numpy()
    first, last = np.flatnonzero(documents == 0), np.flatnonzero(documents == 2)
    for value in twice.features.values():
        np.testing.assert_array_equal(value.numpy()[first], value.numpy()[last])


def test_an_empty_passage_is_one_window_without_a_token():
    passages = read([("who?", "", None), ("who?", " ", None)])
    assert passages.windows.length.numpy().tolist() == [0, 0]
    assert tokens_of(passages, 1) == ["[CLS]", "who", "?", "[SEP]", "[SEP]"]
    assert passages.features["answer_mask"].numpy().sum(axis=1).tolist() == [1, 1]


def test_a_question_that_leaves_no_room_is_told():
    passages = read([("who " * 12, "ada", None), ("who " * 13, "ada", None)])
    assert passages.fits.numpy().tolist() == [True, False]
    assert len(tokens_of(passages, 1)) == 16


def test_the_stride_never_leaves_gaps():
    # The first question leaves room for 3 tokens, the second for 11.
    long = "a " * 20
    passages = read([("who " * 10, long, None), ("who who", long, None)], stride=7)
    firsts = [
        passages.windows.first.numpy()[passages.windows.document.numpy() == d].tolist()
        for d in (0, 1)
    ]
    assert firsts == [[0, 3, 6, 9, 12, 15, 18], [0, 7, 14]]
    halves = read([("who who", long, None)], stride=None)
    assert halves.windows.first.numpy().tolist() == [0, 6, 12]
    with pytest.raises(ValueError, match="no window reads.*stride=13"):
        read(stride=13)
    with pytest.raises(ValueError, match="must leave room beside 4"):
        read(sequence_length=4, stride=None)


def test_a_graph_gives_the_same():
    columns = questions()

    @tf.function(autograph=False)
    def features(question, context):
        return passage_windows(
            tiny_tokenizer(), question, context, 16, 5, pad_to_multiple_of=8
        ).features

    traced = features(tf.constant(columns["question"]), tf.constant(columns["context"]))
    for key, value in read(pad_to_multiple_of=8).features.items():
        np.testing.assert_array_equal(traced[key].numpy(), value.numpy())
