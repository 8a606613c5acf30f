"""The report against `seqeval` and by hand."""

import random
import warnings

import pytest
from seqeval import metrics, scheme

from kerazoo.metrics.entity_report import entity_report
from kerazoo.metrics.entity_spans import entity_spans

TAGS = ["O", "O", "B-PER", "I-PER", "B-LOC", "I-LOC", "B-ORG", "I-ORG"]


def test_by_hand():
    expected = [[("PER", 0, 2), ("LOC", 5, 6)], [], [("ORG", 1, 2)]]
    found = [[("PER", 0, 2), ("LOC", 4, 6)], [("LOC", 0, 1)], []]
    report = entity_report(expected, found)
    assert {key: report[key] for key in ("precision", "recall", "f1")} == pytest.approx(
        {"precision": 1 / 3, "recall": 1 / 3, "f1": 1 / 3}
    )
    assert report["types"]["PER"] == {"precision": 1, "recall": 1, "f1": 1, "support": 1}
    assert report["types"]["ORG"] == {"precision": 0, "recall": 0, "f1": 0, "support": 1}
    assert report["macro_f1"] == pytest.approx(1 / 3)


def test_nothing_found_is_no_success():
    """A model that says O everywhere has the F1 0, however many words are O."""
    report = entity_report([[("PER", 0, 1)], []], [[], []])
    assert (report["precision"], report["recall"], report["f1"]) == (0, 0, 0)
    assert entity_report([], [])["f1"] == 0
    with pytest.raises(ValueError, match="1 and 0 texts"):
        entity_report([[]], [])


@pytest.mark.parametrize("mode", ["default", "strict"])
def test_it_equals_seqeval(mode):
    chooser = random.Random(7)
    true = [[chooser.choice(TAGS) for _ in range(chooser.randint(1, 17))] for _ in range(120)]
    found = [[t if chooser.random() < 0.7 else chooser.choice(TAGS) for t in row] for row in true]
    options = {"mode": "strict", "scheme": scheme.IOB2} if mode == "strict" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = metrics.classification_report(true, found, output_dict=True, **options)
    report = entity_report(*([entity_spans(row, mode) for row in rows] for rows in (true, found)))
    for name, measures in report["types"].items():
        theirs = {k.replace("-score", ""): v for k, v in expected[name].items()}
        assert measures == pytest.approx(theirs)
    for key in ("precision", "recall", "f1"):
        theirs = expected["micro avg"]["f1-score" if key == "f1" else key]
        assert report[key] == pytest.approx(theirs)
    assert report["macro_f1"] == pytest.approx(expected["macro avg"]["f1-score"])
    assert 0.1 < report["f1"] < 0.9
