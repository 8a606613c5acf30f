import tensorflow as tf

from kerazoo.preprocessing.flagged_ids import with_flags, without_flags


def test_flags_come_back_and_ids_stay():
    ids = tf.ragged.constant([[5, 0, 30_521], [], [7]], dtype=tf.int32)
    flags = tf.ragged.constant([[True, False, True], [], [False]], dtype=tf.bool)
    flagged = with_flags(ids, flags)
    assert flagged.row_lengths().numpy().tolist() == [3, 0, 1]
    found, has_flag = without_flags(flagged.to_tensor(3))
    assert found.numpy().tolist() == [[5, 0, 30_521], [3, 3, 3], [7, 3, 3]]
    assert has_flag.numpy().tolist() == [[True, False, True], [False] * 3, [False] * 3]
