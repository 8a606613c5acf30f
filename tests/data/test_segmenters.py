import pytest

from kerazoo.data.jieba_segmenter import JiebaSegmenter
from kerazoo.data.segmenters import make_segmenter, segment


class Forgetful:
    """Cuts off what follows a digit, as some segmenters did."""

    def words(self, texts):
        return [[text.split("5")[0]] for text in texts]


def test_lines_fall_back_to_characters_and_are_counted():
    texts, failed = segment(Forgetful(), ["我们", "我们5号走", "走吧"])
    assert failed == 1
    assert [text.split() for text in texts] == [["我们"], ["我", "们", "5", "号", "走"], ["走吧"]]


def test_texts_with_spaces_need_no_segmenter():
    assert make_segmenter(None) is None
    assert make_segmenter("none") is None


def test_names_are_classes():
    assert isinstance(make_segmenter("jieba"), JiebaSegmenter)
    with pytest.raises(ValueError, match="`segmenter` must be one of 'jieba', 'ltp'"):
        make_segmenter("thulac")
