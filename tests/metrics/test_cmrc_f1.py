import pytest

from kerazoo.metrics.cmrc_f1 import (
    cmrc_exact_match,
    cmrc_f1,
    cmrc_scores,
    has_han,
    mixed_units,
)


def test_units_are_han_characters_and_words_of_other_scripts():
    assert mixed_units(" 由Nexon开发，2V2、约3.5% ") == [
        *"由",
        "nexon",
        *"开发",
        "2v2",
        "约",
        "3.5",
        "%",
    ]
    assert mixed_units("《跑跑卡丁车》") == list("跑跑卡丁车")
    assert mixed_units("……") == mixed_units("") == []


@pytest.mark.parametrize(
    ("answer", "right", "match", "f1"),
    [
        ("踢爆", "踢爆。", 1, 1),
        ("即为踢爆", "踢爆", 0, 2 * 2 / (4 + 2)),
        # The longest run, not all shared units: 小明 of 小明和猫 and 小明猫.
        ("小明和猫", "小明猫", 0, 2 * 2 / (4 + 3)),
        ("4分钟", "5分钟", 0, 2 * 2 / (3 + 3)),
        ("Nexon", "nexon", 1, 1),
        ("好", "坏", 0, 0),
        ("", "坏", 0, 0),
    ],
)
def test_two_answers(answer, right, match, f1):
    assert cmrc_exact_match(answer, right) == match
    assert cmrc_f1(answer, right) == pytest.approx(f1)


def test_the_best_right_answer_counts():
    scores = cmrc_scores(["即为踢爆", "好"], [["踢爆", "即为踢爆"], ["坏"]])
    assert scores == {"cmrc_exact_match": 0.5, "cmrc_f1": 0.5}


def test_han_is_found():
    assert has_han(["a", "3 猫"])
    assert not has_han(["a", "カ", ""])
