import json

import numpy as np
import pytest
from sklearn.metrics import confusion_matrix, f1_score, precision_recall_fscore_support

from kerazoo.metrics.classification_report import classification_report

LABELS = ["sport", "tech", "film", "never"]


@pytest.fixture
def answers():
    generator = np.random.default_rng(3)
    expected = [LABELS[i] for i in generator.choice(3, 101, p=[0.6, 0.3, 0.1])]
    answered = [
        label if generator.random() < 0.7 else LABELS[generator.integers(3)] for label in expected
    ]
    return expected, answered


def test_equals_scikit_learn(answers):
    expected, answered = answers
    report = classification_report(expected, answered, LABELS)
    each = precision_recall_fscore_support(expected, answered, labels=LABELS, zero_division=0)
    for position, name in enumerate(["precision", "recall", "f1", "support"]):
        ours = [report["labels"][label][name] for label in LABELS]
        np.testing.assert_allclose(ours, each[position], rtol=1e-12)
    assert report["macro_f1"] == pytest.approx(f1_score(expected, answered, average="macro"))
    assert report["accuracy"] == np.mean(np.array(expected) == np.array(answered))
    assert report["confusion"] == confusion_matrix(expected, answered, labels=LABELS).tolist()
    assert report["rows"] == 101


def test_a_label_that_only_is_answered_counts_and_one_that_never_occurs_does_not():
    report = classification_report(["a", "a", "a"], ["a", "a", "b"], ["a", "b", "c"])
    assert report["macro_f1"] == pytest.approx((0.8 + 0) / 2)
    assert report["labels"]["c"] == {"precision": 0, "recall": 0, "f1": 0, "support": 0}


def test_it_can_be_written_as_json(answers):
    report = classification_report(*answers, LABELS)
    assert json.loads(json.dumps(report)) == report


@pytest.mark.parametrize(
    ("expected", "answered", "message"),
    [
        ([], [], "there must be a row"),
        (["a"], ["a", "b"], "1 true labels, 2 answers"),
        (["a"], ["x"], "known are a, b. Received: label='x'"),
    ],
)
def test_what_does_not_fit_is_refused(expected, answered, message):
    with pytest.raises(ValueError, match=message):
        classification_report(expected, answered, ["a", "b"])
