import sys

import pytest
from real_data import chinese_review_lines

from kerazoo.data.jieba_segmenter import JiebaSegmenter
from kerazoo.data.segmenters import segment


@pytest.fixture(scope="module")
def jieba_segmenter():
    return JiebaSegmenter()


def test_words_are_jiebas(jieba_segmenter):
    assert jieba_segmenter.words(["我们学习语言", "", "苹果iPhone 15 Pro发布会"]) == [
        ["我们", "学习", "语言"],
        [],
        ["苹果", "iPhone", " ", "15", " ", "Pro", "发布会"],
    ]


def test_it_says_nothing(jieba_segmenter, capfd):
    JiebaSegmenter().words(["安静"])
    assert capfd.readouterr() == ("", "")


@pytest.mark.real_data
def test_real_lines_are_made_up_of_their_words(jieba_segmenter):
    lines = chinese_review_lines()[:300]
    texts, failed = segment(jieba_segmenter, lines)
    assert failed == 0
    assert ["".join(text.split()) for text in texts] == ["".join(line.split()) for line in lines]


def test_how_to_install_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'kerazoo\[zh\]'"):
        JiebaSegmenter()
