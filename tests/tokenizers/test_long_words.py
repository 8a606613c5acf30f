import pytest
import tensorflow as tf

from kerazoo.tokenizers.long_words import replace_long_words


def replace(texts, ids, starts, ends, limit, **options):
    pieces = tuple(
        tf.ragged.constant(rows, dtype=dtype, ragged_rank=1)
        for rows, dtype in ((ids, tf.int32), (starts, tf.int64), (ends, tf.int64))
    )
    is_continuation = tf.constant([number in (7, 9) for number in range(10)])
    result = replace_long_words(
        tf.constant(texts), pieces, is_continuation, limit, unknown_id=1, **options
    )
    return [ragged.to_list() for ragged in result]


TEXTS = ["ab abcd", "жжж", "", "abcde a"]
IDS = [[5, 6, 7], [8, 9], [], [5, 9, 6]]
STARTS = [[0, 3, 5], [0, 2], [], [0, 2, 6]]
ENDS = [[2, 5, 7], [2, 6], [], [2, 5, 7]]


def test_short_words_stay():
    assert replace(TEXTS, IDS, STARTS, ENDS, 7) == [IDS, STARTS, ENDS]


def test_characters_count_not_bytes():
    assert replace(TEXTS, IDS, STARTS, ENDS, 5) == [IDS, STARTS, ENDS]  # жжж: 6 bytes


def test_long_words_become_one_unknown_token_with_their_whole_span():
    ids, starts, ends = replace(TEXTS, IDS, STARTS, ENDS, 3)
    assert ids == [[5, 1], [8, 9], [], [1, 6]]
    assert starts == [[0, 3], [0, 2], [], [0, 6]]
    assert ends == [[2, 7], [2, 6], [], [5, 7]]


def test_no_tokens_at_all():
    assert replace(["", ""], [[], []], [[], []], [[], []], 3) == [[[], []]] * 3


@pytest.mark.parametrize("limit", [2, 3, 999, 1000, 1001])
def test_the_limit_holds_for_any_number(limit):
    """RE2 repeats at most 1,000 times."""
    for extra, expected in ((0, [[5, 7]]), (1, [[1]])):
        length = limit + extra
        pieces = [[5, 7]], [[0, 1]], [[1, length]]
        assert replace(["a" * length], *pieces, limit)[0] == expected


@pytest.mark.parametrize("han_are_words", [True, False])
def test_han_characters(han_are_words):
    """A run of Han characters may be one word, if not each of them is."""
    result = replace(
        ["我们 我们我们"], [[5, 6, 9]], [[0, 7, 10]], [[6, 10, 19]], 3, han_are_words=False
    )
    assert result[0] == [[5, 1]]
    words = [5, 6, 8, 8, 8, 8]
    starts, ends = [0, 3, 7, 10, 13, 16], [3, 6, 10, 13, 16, 19]
    result = replace(["我们 我们我们"], [words], [starts], [ends], 3, han_are_words=han_are_words)
    assert result == [[words], [starts], [ends]]
