import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf
from tiny_gpt import tiny_byte_tokenizer
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from kerazoo.preprocessing.packing import (
    PackingTemplate,
    Part,
    pack,
    pack_parts,
    truncate_first,
    truncate_longest_first,
)

# The pad id is not 0, and separator and end differ, so that mixing them up shows.
TEMPLATE = PackingTemplate(start_id=101, separator_id=102, end_id=103, pad_id=9)


def ragged(rows):
    return tf.ragged.constant(rows, dtype=tf.int32, ragged_rank=1)


def reference(rows, template, sequence_length, width):
    """Packs row by row in plain Python, cutting the longer text token by token."""
    packed = {"token_ids": [], "segment_ids": [], "padding_mask": []}
    for texts in rows:
        texts = [list(text) for text in texts]
        budget = sequence_length - len(texts) - 1
        # Where both are as long, the text that was shorter (or the first) is cut.
        tie = 1 if len(texts[0]) > len(texts[-1]) else 0
        while sum(map(len, texts)) > budget:
            longest = max(range(len(texts)), key=lambda k: (len(texts[k]), k == tie))
            texts[longest].pop()
        ids, segments = [template.start_id], [0]
        for number, text in enumerate(texts):
            last = number + 1 == len(texts)
            ids += [*text, template.end_id if last else template.separator_id]
            segments += [number] * (len(text) + 1)
        padding = width - len(ids)
        packed["token_ids"].append(ids + [template.pad_id] * padding)
        packed["segment_ids"].append(segments + [0] * padding)
        packed["padding_mask"].append([1] * len(ids) + [0] * padding)
    return packed


def as_lists(features):
    return {key: value.numpy().tolist() for key, value in features.items()}


@pytest.mark.parametrize("sequence_length", [4, 7, 13, 30])
def test_pairs_equal_the_reference(sequence_length):
    lengths = [(0, 0), (0, 5), (6, 0), (3, 9), (9, 3), (8, 8), (1, 1), (20, 2)]
    rows = [(list(range(10, 10 + a)), list(range(50, 50 + b))) for a, b in lengths]
    firsts, seconds = zip(*rows, strict=True)
    features = pack([ragged(firsts), ragged(seconds)], TEMPLATE, sequence_length)
    expected = reference(rows, TEMPLATE, sequence_length, sequence_length)
    assert as_lists(features) == expected


def test_single_texts_equal_the_reference():
    rows = [([1, 2, 3],), ([],), (list(range(20)),)]
    features = pack([ragged([row[0] for row in rows])], TEMPLATE, 8)
    assert as_lists(features) == reference(rows, TEMPLATE, 8, 8)


def test_truncation_equals_hugging_face():
    """Every pair of lengths up to 9 and every budget up to 12, against `tokenizers`."""
    words = {f"w{number}": number for number in range(12)} | {"[CLS]": 12, "[SEP]": 13}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="w0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 13), ("[CLS]", 12))
    pairs = list(itertools.product(range(10), repeat=2))
    first, second = (tf.constant(column) for column in zip(*pairs, strict=True))
    for budget in range(1, 13):
        tokenizer.enable_truncation(budget + 3, strategy="longest_first")
        kept = truncate_longest_first([first, second], budget)
        for row, (a, b) in enumerate(pairs):
            encoding = tokenizer.encode(" ".join(["w1"] * a), " ".join(["w2"] * b))
            expected = (encoding.ids.count(1), encoding.ids.count(2))
            assert (int(kept[0][row]), int(kept[1][row])) == expected, (a, b, budget)


@pytest.mark.parametrize(("multiple", "width"), [(1, 6), (4, 8), (16, 12)])
def test_pads_to_a_multiple_but_never_past_the_limit(multiple, width):
    features = pack([ragged([[1], [2, 3, 4, 5]])], TEMPLATE, 12, pad_to_multiple_of=multiple)
    assert features["token_ids"].shape == (2, width)


def test_batch_of_zero():
    empty = tf.RaggedTensor.from_row_lengths(tf.zeros([0], tf.int32), tf.zeros([0], tf.int32))
    assert pack([empty], TEMPLATE, 7)["token_ids"].shape == (0, 7)
    assert pack([empty, empty], TEMPLATE, 7, pad_to_multiple_of=2)["token_ids"].shape[0] == 0


def test_the_same_in_a_dataset():
    rows = [[1, 2], [3], [], [4, 5, 6, 7]]
    eager = pack([ragged(rows)], TEMPLATE, 5)
    dataset = tf.data.Dataset.from_tensors(ragged(rows)).map(lambda r: pack([r], TEMPLATE, 5))
    (traced,) = list(dataset)
    assert as_lists(traced) == as_lists(eager)
    assert dataset.element_spec["token_ids"].shape[1] == 5
    assert {value.dtype for value in traced.values()} == {tf.int32}


@pytest.mark.parametrize(("texts", "sequence_length"), [(1, 2), (2, 3), (1, 0), (1, -4)])
def test_no_room_is_an_error(texts, sequence_length):
    with pytest.raises(ValueError, match=f"Received: sequence_length={sequence_length}"):
        pack([ragged([[1]])] * texts, TEMPLATE, sequence_length)


def test_template_of_a_tokenizer(tiny_tokenizer):
    template = PackingTemplate.from_tokenizer(tiny_tokenizer)
    assert template == PackingTemplate(start_id=1, separator_id=2, end_id=2, pad_id=3)
    assert np.unique([template.start_id, template.end_id, template.pad_id]).size == 3


def test_the_first_text_is_cut_before_the_others():
    """Against plain Python, token by token, for every three lengths up to 4."""
    rows = list(itertools.product(range(5), repeat=3))
    lengths = [tf.constant(column) for column in zip(*rows, strict=True)]
    for budget in range(2, 13):
        kept = truncate_first(lengths, tf.constant([budget] * len(rows)))
        others = truncate_longest_first(lengths[1:], budget)
        for row, (first, second, third) in enumerate(rows):
            left = first
            while left and left + second + third > budget:
                left -= 1
            expected = [left, int(others[0][row]), int(others[1][row])]
            assert [int(part[row]) for part in kept] == expected, (rows[row], budget)


def test_parts_that_are_not_closed_and_parts_that_are_repeated():
    first = Part.from_ragged(ragged([[11], [], [12, 13]])).repeated(2)
    first = dataclasses.replace(first, closed=tf.constant([True, False] * 3))
    second = Part.from_ragged(ragged([[21], [22, 23], [], [24], [25], [26]]), segment=1)
    kept = [first.lengths, second.lengths]
    features = as_lists(pack_parts([first, second], kept, TEMPLATE, 7))
    pad = TEMPLATE.pad_id
    assert features["token_ids"] == [
        [101, 11, 102, 21, 103, pad, pad],
        [101, 11, 22, 23, 103, pad, pad],
        [101, 102, 103, pad, pad, pad, pad],
        [101, 24, 103, pad, pad, pad, pad],
        [101, 12, 13, 102, 25, 103, pad],
        [101, 12, 13, 26, 103, pad, pad],
    ]
    assert features["segment_ids"][1] == [0, 0, 1, 1, 1, 0, 0]
    assert [sum(mask) for mask in features["padding_mask"]] == [5, 5, 3, 3, 6, 5]


def test_template_of_a_gpt_tokenizer():
    tokenizer = tiny_byte_tokenizer()
    template = PackingTemplate.from_tokenizer(tokenizer)
    assert template == PackingTemplate(start_id=262, separator_id=263, end_id=264, pad_id=0)
    with pytest.raises(ValueError, match="with_task_tokens"):
        PackingTemplate.from_tokenizer(tiny_byte_tokenizer(task_tokens=False))
