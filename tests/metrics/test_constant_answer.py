import pytest

from kerazoo.metrics.constant_answer import best_constant_answer


def test_of_texts_with_spaces_it_is_a_run_of_words():
    # The answers are the fifth and sixth word of each, wherever its characters stand.
    contexts = ["a b c d Ada came  f g", "aa bb cc dd Ben\nleft ff", "x y z w Eve sat"]
    best = best_constant_answer(contexts, [["Ada came"], ["no", "Ben left"], ["Eve"]])
    assert best.name == "words 5 to 6"
    assert best.scores == pytest.approx({"exact_match": 2 / 3, "f1": (1 + 1 + 2 / 3) / 3})


def test_of_chinese_it_is_a_run_of_characters_by_cmrcs_measure():
    contexts = [
        "一二三四五六七八九十" + "甲乙丙丁戊" + "子" * 90,
        "零" * 10 + "天地玄黄宇" + "宙" * 90,
    ]
    best = best_constant_answer(contexts, [["甲乙丙丁戊"], ["天地玄黄"]])
    assert best.name == "characters 11 to 15"
    assert best.scores["cmrc_exact_match"] == 0.5
    assert best.scores["cmrc_f1"] == pytest.approx((1 + 2 * 4 / 9) / 2)
    assert "f1" in best.scores


def test_no_answer_wins_where_most_questions_have_none():
    best = best_constant_answer(["a b", "c d", "e f"], [[], ["c d"], []])
    assert best.name == "no answer"
    assert best.scores["f1"] == pytest.approx(2 / 3)
    assert best.scores["no_answer_f1"] == 1


def test_questions_and_passages_are_as_many():
    with pytest.raises(ValueError, match="2 answers, 1 questions"):
        best_constant_answer(["a", "b"], [["a"]])
