"""SQuAD's measures against torchmetrics (if it is installed) and a table made by hand."""

import random

import pytest

from kerazoo.metrics.span_f1 import exact_match, normalized_answer, span_f1, squad_scores

WORDS = ["The", "the", "a", "Denver", "Broncos", "24–10", "$3.5", "an", "U.S.", "é", "  ", "10,"]


def test_answers_are_normalised():
    assert normalized_answer("  The  Denver\tBroncos, an (AFC) team! ") == "denver broncos afc team"
    assert normalized_answer("A theatre") == "theatre"
    assert normalized_answer("the a an.") == ""


@pytest.mark.parametrize(
    ("answer", "right", "match", "f1"),
    [
        ("Denver Broncos", "the denver broncos.", 1, 1),
        ("Broncos", "Denver Broncos", 0, 2 / 3),
        ("Denver Denver Broncos", "Denver Broncos Broncos", 0, 2 / 3),
        ("Panthers", "Denver Broncos", 0, 0),
        ("", "", 1, 1),
        ("", "Denver", 0, 0),
        ("the", "", 1, 1),
    ],
)
def test_two_answers(answer, right, match, f1):
    assert exact_match(answer, right) == match
    assert span_f1(answer, right) == pytest.approx(f1)


def test_questions_without_an_answer_are_split_off_as_in_squad_2():
    """Worked out by hand with the rules of SQuAD v2.0's evaluation."""
    answers = ["Denver", "the Broncos team", "", "x", "", "y z"]
    right = [["Denver", "Denver Broncos"], ["Broncos"], ["Broncos"], [], [], ["y", "z y w"]]
    # exact: 1 0 0 0 1 0; F1: 1, 2/3, 0, 0, 1, 4/5.
    assert squad_scores(answers, right) == pytest.approx(
        {
            "exact_match": 2 / 6,
            "f1": (1 + 2 / 3 + 1 + 4 / 5) / 6,
            "has_answer_rows": 4,
            "has_answer_exact_match": 1 / 4,
            "has_answer_f1": (1 + 2 / 3 + 4 / 5) / 4,
            "no_answer_rows": 2,
            "no_answer_exact_match": 1 / 2,
            "no_answer_f1": 1 / 2,
        }
    )
    assert squad_scores([""], [[]])["no_answer_f1"] == 1
    with pytest.raises(ValueError, match="1 answers, 2 questions"):
        squad_scores(["a"], [["a"], ["b"]])


@pytest.mark.transformers  # where PyTorch is installed, .ci/run installs torchmetrics too
def test_it_equals_torchmetrics():
    text = pytest.importorskip("torchmetrics.text")
    chooser = random.Random(3)

    def answer():
        return " ".join(chooser.choices(WORDS, k=chooser.randint(1, 5)))

    answers = [answer() for _ in range(300)]
    right = [[answer() for _ in range(chooser.randint(1, 3))] for _ in answers]
    for row in range(0, 300, 3):
        right[row][0] = answers[row].lower()
    metric = text.SQuAD()
    metric.update(
        [{"prediction_text": a, "id": str(row)} for row, a in enumerate(answers)],
        [
            {"answers": {"answer_start": [0] * len(texts), "text": texts}, "id": str(row)}
            for row, texts in enumerate(right)
        ],
    )
    expected = metric.compute()
    found = squad_scores(answers, right)
    assert 100 * found["exact_match"] == pytest.approx(float(expected["exact_match"]), abs=1e-3)
    assert 100 * found["f1"] == pytest.approx(float(expected["f1"]), abs=1e-3)
    assert 30 < 100 * found["f1"] < 90
