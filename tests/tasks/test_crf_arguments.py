import itertools

import pytest

from kerazoo.tasks.crf_arguments import check_crf_arguments


@pytest.mark.parametrize("arguments", itertools.product([False, True], repeat=3))
def test_bans_need_a_crf_and_a_crf_one_tag_a_word(arguments):
    crf, ban, all_pieces = arguments
    message = None
    if ban and not crf:
        message = "Only a CRF can ban.*ban_illegal_moves=True, crf=False"
    elif crf and all_pieces:
        message = "one tag a word.*crf=True, label_all_pieces=True"
    if message is None:
        check_crf_arguments(crf, ban, all_pieces)
        return
    with pytest.raises(ValueError, match=message):
        check_crf_arguments(crf, ban, all_pieces)
