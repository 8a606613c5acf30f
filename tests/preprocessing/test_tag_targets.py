"""Targets of windows against a plain loop over words."""

import numpy as np
import pytest
import tensorflow as tf
from tiny_extractive_qa import tiny_tokenizer
from tiny_token_classifier import ENTITIES, LABELS, TAGS, TEXTS, WORDS

from kerazoo.metrics.entity_spans import entity_spans
from kerazoo.preprocessing.tag_targets import TagTable, span_tags, tag_targets
from kerazoo.preprocessing.tagged_windows import tagged_windows

TABLE = TagTable.of(LABELS)


def numbers(tags):
    return tf.ragged.constant([[LABELS.index(tag) for tag in row] for row in tags])


def read(stride=4, length=13, **arguments):
    return tagged_windows(tiny_tokenizer(), length, stride, **arguments)


def targets_by_hand(windows, tags, all_pieces):
    """Return {(window, position): tag} of all targets."""
    expected = {}
    documents, firsts, lengths = (
        getattr(windows.windows, name).numpy() for name in ("document", "first", "length")
    )
    token = 0
    for row, words in enumerate(tags):
        first_token = windows.words.first_token[row].numpy()
        of_token = windows.words.word_of_token[row].numpy()
        owners = windows.owner[token : token + len(of_token)].numpy()
        token += len(of_token)
        visible = [number for number in range(len(words)) if first_token[number] >= 0]
        spans = entity_spans([words[number] for number in visible])
        head = {i: span.first for span in spans for i in range(span.first, span.behind)}
        for index, number in enumerate(visible):
            owner = owners[first_token[visible[head.get(index, index)]]]
            assert documents[owner] == row
            for place in np.flatnonzero(of_token == number):
                if place != first_token[number] and not all_pieces:
                    continue
                tag = words[number]
                if place != first_token[number]:
                    tag = tag.replace("B-", "I-")
                if place < firsts[owner] + lengths[owner]:
                    expected[owner, place - firsts[owner] + 1] = LABELS.index(tag)
    return expected


@pytest.mark.parametrize("all_pieces", [False, True])
@pytest.mark.parametrize(("length", "stride"), [(13, 4), (6, 4), (7, 2)])
def test_targets_equal_a_loop(all_pieces, length, stride):
    windows = read(stride, length, words=tf.ragged.constant(WORDS))
    targets, weights = tag_targets(windows, numbers(TAGS), TABLE, all_pieces)
    expected = targets_by_hand(windows, TAGS, all_pieces)
    found = {
        (row, position): int(targets[row, position])
        for row, position in np.argwhere(weights.numpy() > 0)
    }
    assert found == expected
    assert set(np.unique(weights)) == {0, 1}
    assert not targets.numpy()[weights.numpy() == 0].any()
    words = sum(map(len, WORDS)) - 1
    assert len(found) >= words if all_pieces else len(found) == words


def test_no_entity_is_cut_by_the_edge_of_what_a_window_owns():
    """Wherever the entity lies, its words are targets of one window."""
    for shift in range(20):
        words = ["the"] * shift + ["Ada", "cats", "came"] + ["on"] * (20 - shift)
        tags = ["O"] * shift + ["B-PER", "I-PER", "I-PER"] + ["O"] * (20 - shift)
        windows = read(4, 13, words=tf.ragged.constant([words]))
        targets, weights = tag_targets(windows, numbers([tags]), TABLE, False)
        owners = np.flatnonzero((targets.numpy() > 0).any(axis=1))
        assert len(owners) == 1
        assert (targets.numpy() > 0).sum() == 3
        assert weights.numpy().sum() == 23


def test_characters_of_entities_become_tags_of_words():
    windows = read(texts=TEXTS)
    starts, ends = (
        tf.ragged.constant([[e[i] for e in row] for row in ENTITIES], tf.int32) for i in (0, 1)
    )
    begin = tf.ragged.constant(
        [[LABELS.index(f"B-{e[2]}") for e in row] for row in ENTITIES], tf.int32
    )
    tags = span_tags(windows, starts, ends, begin, begin + 1, 0)
    for row, text in enumerate(TEXTS):
        named = [LABELS[tag] for tag in tags[row].numpy()]
        spans = entity_spans(named, "strict")
        first, last = (getattr(windows.words, key)[row].numpy() for key in ("starts", "ends"))
        found = [(first[s.first], last[s.behind - 1], s.type) for s in spans]
        assert found == ENTITIES[row]
        assert [text[a:b] for a, b, _ in found] == [text[a:b] for a, b, _ in ENTITIES[row]]


def test_an_entity_of_a_part_of_a_word_takes_the_word_and_the_first_wins():
    windows = read(texts=["cats came", "cated"])
    starts = tf.ragged.constant([[1, 6], [0, 2]], tf.int32)
    ends = tf.ragged.constant([[3, 8], [2, 5]], tf.int32)
    begin = tf.ragged.constant([[1, 3], [1, 3]], tf.int32)
    tags = span_tags(windows, starts, ends, begin, begin + 1, 0)
    assert tags.to_list() == [[1, 3], [1]]


def test_the_table_reads_every_kind_of_tag():
    table = TagTable.of(["O", "B-X", "S-X", "E-X", "I-X", "NOUN", "B-Y"])
    assert table.types == ("X", "NOUN", "Y")
    assert table.type_of == (-1, 0, 0, 0, 0, 1, 2)
    assert table.begins == (False, True, True, False, False, False, True)
    assert table.ends == (False, False, True, True, False, False, False)
    assert table.inside == (0, 4, 2, 3, 4, 5, 6)


def test_entities_begin_where_seqeval_lets_them_begin():
    labels = ["O", "B-X", "S-X", "E-X", "I-X", "I-Y", "B-Y"]
    table = TagTable.of(labels)
    tags = np.random.default_rng(3).integers(0, len(labels), 400).astype("int32")
    rows = np.sort(np.random.default_rng(4).integers(0, 60, 400))
    found = table.begins_entity(tf.constant(tags), tf.constant(rows)).numpy()
    expected = np.zeros(400, bool)
    for row in np.unique(rows):
        places = np.flatnonzero(rows == row)
        for span in entity_spans([labels[tag] for tag in tags[places]]):
            expected[places[span.first]] = True
    np.testing.assert_array_equal(found, expected)
