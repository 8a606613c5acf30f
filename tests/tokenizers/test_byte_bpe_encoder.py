import numpy as np
import pytest
import tensorflow as tf
from bpe_reference import END_OF_TEXT, byte_vocabulary
from nasty_strings import NASTY_STRINGS

from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary
from kerazoo.tokenizers.byte_bpe_encoder import ByteBPEEncoder


@pytest.fixture(scope="module")
def encoder():
    vocabulary = BPEVocabulary(*byte_vocabulary())
    return ByteBPEEncoder(vocabulary, {END_OF_TEXT: vocabulary.ids[END_OF_TEXT]}, ["<s>", "$"])


def test_both_encodings_agree(encoder):
    texts = tf.constant(NASTY_STRINGS)
    ids, starts, ends = encoder.encode_with_offsets(texts)
    assert encoder.encode(texts).to_list() == ids.to_list()
    lengths = tf.strings.length(texts, unit="UTF8_CHAR").numpy()
    for row_starts, row_ends, length in zip(starts, ends, lengths, strict=True):
        covered = np.zeros(length + 1, int)
        np.add.at(covered, row_starts.numpy(), 1)
        np.add.at(covered, row_ends.numpy(), -1)
        assert (np.cumsum(covered)[:length] > 0).all()


def test_offsets_of_ascii_and_other_rows(encoder):
    end = f"x{END_OF_TEXT}"
    _, starts, ends = encoder.encode_with_offsets(tf.constant([end, f"é{end}"]))
    assert (starts[0].numpy().tolist(), ends[0].numpy().tolist()) == ([0, 1], [1, 14])
    assert (starts[1, -1].numpy(), ends[1, -1].numpy()) == (2, 15)


def test_decode_knows_task_tokens(encoder):
    ids = tf.ragged.constant([[700, 701], [], [700]])
    assert encoder.decode(ids).numpy().tolist() == [b"<s>$", b"", b"<s>"]


def test_special_tokens_are_not_split(encoder):
    ids = encoder.encode(tf.constant([END_OF_TEXT * 3]))
    assert encoder.decode(ids).numpy().tolist() == [END_OF_TEXT.encode() * 3]
    assert ids.row_lengths().numpy().tolist() == [3]
