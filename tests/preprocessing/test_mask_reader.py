import numpy as np
import pytest
import tensorflow as tf

from kerazoo import WordPieceTokenizer
from kerazoo.preprocessing.mask_reader import MaskReader

TEXTS = ["The [MASK] was [MASK].", "good", "[MASK]电[MASK]影 [mask]", "  [MASK]\u0301x [SEP]"]


@pytest.fixture(scope="module")
def reader(tiny_tokenizer):
    return MaskReader(tiny_tokenizer, sequence_length=9)


def test_masks_are_tokens_of_their_own(reader, tiny_tokenizer):
    read = reader.read(TEXTS, masks=3)
    ids = read.features["token_ids"].numpy()
    mask = tiny_tokenizer.mask_token_id
    np.testing.assert_array_equal(read.counts, [2, 0, 2, 1])
    for row, positions in enumerate(read.features["mask_positions"].numpy()):
        used = read.is_used[row].numpy()
        assert positions[used].tolist() == np.flatnonzero(ids[row] == mask).tolist()
        assert positions[~used].tolist() == [0] * (3 - used.sum())
    assert (ids == tiny_tokenizer.sep_token_id).sum() == len(TEXTS)  # "[SEP]" in a text is text


def test_offsets_are_those_of_the_caller(reader):
    read = reader.read(TEXTS, masks=3)
    for row, text in enumerate(TEXTS):
        starts, ends = read.starts[row].numpy(), read.ends[row].numpy()
        used = read.is_used[row].numpy()
        for start, end in zip(starts[used], ends[used], strict=True):
            assert text[start:end].startswith("[MASK]")
        assert set(starts[~used]) | set(ends[~used]) <= {len(text)}


def test_the_rest_is_tokenised_as_ever(reader, tiny_tokenizer):
    """Hugging Face cuts a text at its special tokens before anything else; so is it here."""
    ids = reader.read(["Films[MASK]ing was"], masks=1).features["token_ids"].numpy()[0]
    parts = [tiny_tokenizer.tokenize(part).numpy().tolist() for part in ("Films", "ing was")]
    inside = [*parts[0], tiny_tokenizer.mask_token_id, *parts[1]]
    assert ids[1 : 1 + len(inside)].tolist() == inside


def test_masks_that_are_cut_off_have_no_slot(reader):
    read = reader.read(["[MASK] " * 9], masks=8)
    assert read.counts.numpy().tolist() == [9]
    assert read.is_used.numpy().sum() == 7  # 9 positions without [CLS] and [SEP]
    assert read.features["mask_positions"].numpy()[0].tolist() == [1, 2, 3, 4, 5, 6, 7, 0]


def test_slots_are_as_many_as_needed_or_as_given(reader):
    assert reader.read(["[MASK] good"]).is_used.shape == (1, 8)
    long = MaskReader(reader._tokenizer, sequence_length=40)
    assert long.read(["[MASK] " * 11, ""]).is_used.shape == (2, 16)
    assert long.read(["[MASK] " * 11], masks=2).is_used.numpy().tolist() == [[True, True]]
    assert long.read([]).features["token_ids"].shape[0] == 0


def test_a_traced_graph_gives_the_same(reader):
    function = tf.function(
        lambda texts: reader.read(texts, 3, pad_to_multiple_of=8).features,
        input_signature=[tf.TensorSpec((None,), tf.string)],
    )
    traced = function(tf.constant(TEXTS))
    for key, value in reader.read(TEXTS, 3, pad_to_multiple_of=8).features.items():
        np.testing.assert_array_equal(traced[key], value)


def test_a_tokenizer_that_reads_all_specials_goes_on_so(tiny_vocabulary):
    trusting = WordPieceTokenizer(tiny_vocabulary, special_tokens_in_strings=True)
    ids = MaskReader(trusting, 9).read(["[MASK] [SEP] x"]).features["token_ids"].numpy()
    assert (ids == trusting.sep_token_id).sum() == 2


def test_a_tokenizer_without_a_mask_is_refused(tiny_bpe_tokenizer):
    with pytest.raises(ValueError, match="mask token.*Received: tokenizer=ByteBPETokenizer"):
        MaskReader(tiny_bpe_tokenizer, 9)
