import pytest

from kerazoo.data.segmented_text import character_text, segmented_text


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("我们学习语言", ["我们", "学习", "语言"], "我们 学习 语言"),
        # Letters and digits stay together, whatever the segmenter says: BERT's ids must not change.
        ("苹果iPhone15发布", ["苹果", "iPhone", "15", "发布"], "苹果 iPhone15 发布"),
        ("don't走", ["don", "'", "t", "走"], "don't 走"),
        # White space is the caller's, in whatever form the segmenter gives it back.
        ("新 世纪\u3000讲话 ", ["新世纪", "讲话"], "新 世纪\u3000讲话 "),
        ("新 世纪讲话", ["新", " ", "世纪", "讲话"], "新 世纪 讲话"),
        ("卡拉OK好", ["卡拉OK", "好"], "卡拉OK 好"),
        ("好。\u200c对", ["好", "。", "\u200c", "对"], "好 。\u200c 对"),
        ("", [], ""),
        (" ", [" "], " "),
    ],
)
def test_words_are_set_apart_beside_han_characters(text, words, expected):
    assert segmented_text(text, words) == expected


@pytest.mark.parametrize(
    "words",
    [
        ["我们", "学习"],
        ["我们", "学习", "语言", "。"],
        ["我", "学习", "语言"],
        [],
        ["我們学习语言"],
    ],
)
def test_words_that_do_not_make_up_the_text_are_refused(words):
    assert segmented_text("我们学习语言", words) is None


def test_characters_become_words_and_other_words_stay():
    assert character_text("我们iPhone 15。𠀀").split() == ["我", "们", "iPhone", "15。", "𠀀"]
