import sys
import types
from collections import namedtuple

import pytest

from kerazoo.data.ltp_segmenter import LTPSegmenter
from kerazoo.data.segmenters import make_segmenter, segment

Output = namedtuple("Output", ["cws"])


class FakeLTP:
    """`ltp.LTP` as its pipeline behaves: batches of texts, 512 tokens, words of two characters."""

    def __init__(self, model="LTP/small"):
        self.model = model
        self.batches = []
        self.texts = []

    def pipeline(self, inputs, tasks=None, raw_format=False, return_dict=True):
        assert tasks == ["cws"]
        assert all(text.strip() for text in inputs)
        self.batches.append(len(inputs))
        self.texts += inputs
        texts = [text[:510] for text in inputs]
        return Output([[text[i : i + 2] for i in range(0, len(text), 2)] for text in texts])


def test_texts_are_cut_in_batches():
    model = FakeLTP()
    texts = [f"第{chr(0x4E00 + number)}行" for number in range(40)]
    assert LTPSegmenter(model).words(texts) == [[text[:2], text[2:]] for text in texts]
    assert model.batches == [32, 8]


def test_blank_texts_have_no_words():
    assert LTPSegmenter(FakeLTP()).words(["", "我们", " \u3000"]) == [[], ["我们"], []]


def test_the_end_of_long_lines_is_not_lost():
    sentence = "这句话有九个字长。"
    text = sentence * 130 + "没" * 1003
    segmenter = LTPSegmenter(FakeLTP())
    (words,) = segmenter.words([text])
    assert "".join(words) == text
    parts = segmenter._model.texts
    assert [len(part) for part in parts] == [495, 495, 180, 500, 500, 3]
    assert parts[0].endswith("。")
    assert segment(segmenter, [text])[1] == 0


def test_the_model_is_loaded_by_name(monkeypatch):
    monkeypatch.setitem(sys.modules, "ltp", types.SimpleNamespace(LTP=FakeLTP))
    assert make_segmenter("ltp")._model.model == "LTP/small"
    assert make_segmenter("ltp", "LTP/base")._model.model == "LTP/base"


def test_a_model_that_cannot_be_loaded_is_told(monkeypatch):
    def fail(model):
        raise RuntimeError("offline")

    monkeypatch.setitem(sys.modules, "ltp", types.SimpleNamespace(LTP=fail))
    with pytest.raises(OSError, match=r"Received: segmenter_model='LTP/small' \(offline\)"):
        LTPSegmenter()


def test_how_to_install_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "ltp", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'kerazoo\[ltp\]'"):
        LTPSegmenter()
