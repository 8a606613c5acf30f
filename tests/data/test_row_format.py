import numpy as np
import pytest
import tensorflow as tf

from kerazoo.data.objectives import BERT, BERT_MLM, GPT
from kerazoo.data.row_format import RowFormat

# (vocabulary size, type of a word): with and without the bit for word starts there is room for
# 32,768 and 65,536 ids in 16 bits.
BERT_SIZES = [(31, "uint16"), (32768, "uint16"), (32769, "int32"), (250_002, "int32")]


def random_rows(row_format: RowFormat, count: int) -> list[dict]:
    """Rows of random length, the first as long and the last as short as can be."""
    random = np.random.default_rng(5)
    lengths = [row_format.row_length, *random.integers(3, row_format.row_length, count - 2), 3]
    rows = []
    for length in lengths:
        ids = random.integers(0, row_format.vocabulary_size, length)
        starts = random.random(length) < 0.6
        second = int(random.integers(1, length + 1))
        rows.append({"ids": ids, "starts": starts, "second": second, "label": int(length % 2)})
    return rows


def encoded(row_format: RowFormat, row: dict, **masks) -> bytes:
    starts = row["starts"] if row_format.has_word_starts else None
    words = row_format.token_words(row["ids"], starts)
    return row_format.encode(words, row["second"], row["label"], **masks)


def padded(values: list, length: int, padding: int) -> np.ndarray:
    return np.array([[*row, *[padding] * (length - len(row))] for row in values])


@pytest.mark.parametrize(("size", "kind"), BERT_SIZES)
@pytest.mark.parametrize("traced", [False, True])
def test_rows_come_back_from_their_records(size, kind, traced):
    row_format = RowFormat(BERT, row_length=13, vocabulary_size=size, pad_token_id=3)
    assert row_format.id_type == kind
    rows = random_rows(row_format, 7)
    records = [encoded(row_format, row) for row in rows]
    if traced:
        dataset = tf.data.Dataset.from_tensor_slices(records).batch(7).map(row_format.parse)
        assert dataset.element_spec["token_ids"].shape == (None, 13)
        (batch,) = dataset.as_numpy_iterator()
    else:
        batch = {key: value.numpy() for key, value in row_format.parse(records).items()}
    ids = [row["ids"] for row in rows]
    segments = [np.arange(len(row["ids"])) >= row["second"] for row in rows]
    np.testing.assert_array_equal(batch["token_ids"], padded(ids, 13, 3))
    np.testing.assert_array_equal(batch["padding_mask"], padded([i * 0 + 1 for i in ids], 13, 0))
    np.testing.assert_array_equal(batch["segment_ids"], padded(segments, 13, 0))
    starts = [row["starts"] for row in rows]
    np.testing.assert_array_equal(batch["word_starts"], padded(starts, 13, False))
    np.testing.assert_array_equal(batch["next_sentence_label"], [row["label"] for row in rows])
    kinds = {key: value.dtype for key, value in batch.items()}
    assert kinds.pop("word_starts") == np.dtype(bool)
    assert set(kinds.values()) == {np.dtype("int32")}


@pytest.mark.parametrize(("size", "kind"), [(65_536, "uint16"), (65_537, "int32")])
def test_a_language_model_has_ids_only(size, kind):
    row_format = RowFormat(GPT, row_length=9, vocabulary_size=size, pad_token_id=0)
    assert row_format.id_type == kind
    rows = random_rows(row_format, 5)
    rows[0]["ids"][0] = size - 1
    batch = row_format.parse([encoded(row_format, row) for row in rows])
    assert set(batch) == {"token_ids", "padding_mask"}
    np.testing.assert_array_equal(batch["token_ids"], padded([r["ids"] for r in rows], 9, 0))


def test_static_masks_stand_before_the_tokens():
    row_format = RowFormat(BERT_MLM, 11, vocabulary_size=29, pad_token_id=2, mask_slots=3)
    rows = random_rows(row_format, 4)
    masks = [([1, 4], [28, 7]), ([2], [5]), ([1, 5, 6], [9, 0, 11]), ([], [])]
    records = [
        encoded(row_format, row, mask_positions=where, mask_ids=ids)
        for row, (where, ids) in zip(rows, masks, strict=True)
    ]
    batch = row_format.parse(records)
    assert "next_sentence_label" not in batch
    np.testing.assert_array_equal(
        batch["mask_positions"], [[1, 4, 0], [2, 0, 0], [1, 5, 6], [0, 0, 0]]
    )
    np.testing.assert_array_equal(batch["mask_ids"], [[28, 7, 2], [5, 2, 2], [9, 0, 11], [2, 2, 2]])
    np.testing.assert_array_equal(
        batch["mask_weights"], [[1, 1, 0], [1, 0, 0], [1, 1, 1], [0, 0, 0]]
    )
    np.testing.assert_array_equal(batch["token_ids"], padded([r["ids"] for r in rows], 11, 2))


def test_records_are_small_and_little_endian():
    row_format = RowFormat(BERT, row_length=13, vocabulary_size=31, pad_token_id=3)
    words = row_format.token_words(np.array([1, 5, 2]), np.array([False, True, False]))
    assert row_format.encode(words, 2, 1) == bytes([3, 0, 2, 0, 1, 0, 0, 0, 1, 0, 5, 0x80, 2, 0])


@pytest.mark.parametrize(("size", "kind"), BERT_SIZES)
def test_tokens_are_counted_without_parsing(size, kind):
    row_format = RowFormat(BERT, 23, size, pad_token_id=3)
    rows = random_rows(row_format, 9)
    counts = row_format.token_counts([encoded(row_format, row) for row in rows])
    assert row_format.id_type == kind
    assert counts.numpy().tolist() == [len(row["ids"]) for row in rows]
