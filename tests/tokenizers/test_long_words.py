import tensorflow as tf

from kerazoo.tokenizers.long_words import replace_long_words


def replace(texts, ids, starts, ends, first, limit):
    pieces = tuple(
        tf.ragged.constant(rows, dtype=dtype, ragged_rank=1)
        for rows, dtype in ((ids, tf.int32), (starts, tf.int64), (ends, tf.int64))
    )
    flags = tf.constant([bool(flag) for row in first for flag in row], tf.bool)
    result = replace_long_words(tf.constant(texts), pieces, flags, limit, unknown_id=1)
    return [ragged.to_list() for ragged in result]


TEXTS = ["ab abcd", "жжж", "", "abcde a"]
IDS = [[5, 6, 7], [8, 9], [], [5, 6, 7]]
STARTS = [[0, 3, 5], [0, 2], [], [0, 2, 6]]
ENDS = [[2, 5, 7], [2, 6], [], [2, 5, 7]]
FIRST = [[1, 1, 0], [1, 0], [], [1, 0, 1]]


def test_short_words_stay():
    assert replace(TEXTS, IDS, STARTS, ENDS, FIRST, 7) == [IDS, STARTS, ENDS]


def test_characters_count_not_bytes():
    assert replace(TEXTS, IDS, STARTS, ENDS, FIRST, 5) == [IDS, STARTS, ENDS]  # жжж: 6 bytes


def test_long_words_become_one_unknown_token_with_their_whole_span():
    ids, starts, ends = replace(TEXTS, IDS, STARTS, ENDS, FIRST, 3)
    assert ids == [[5, 1], [8, 9], [], [1, 7]]
    assert starts == [[0, 3], [0, 2], [], [0, 6]]
    assert ends == [[2, 7], [2, 6], [], [5, 7]]


def test_no_tokens_at_all():
    assert replace(["", ""], [[], []], [[], []], [[], []], [[], []], 3) == [[[], []]] * 3
