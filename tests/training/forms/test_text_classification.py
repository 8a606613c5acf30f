import math

import pytest

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.text_classification import TextClassificationForm

FORM = TextClassificationForm()


def table(labels, path="a.tsv"):
    texts = [f"text {number}" for number in range(len(labels))]
    return Table(path, {"text": texts, "label": list(labels)}, list(range(2, 2 + len(labels))))


class Fixed:
    """Answers as it was told to."""

    labels = ["bad", "good"]
    pairs = False

    def __init__(self, probabilities):
        self.probabilities = iter(probabilities)

    def answer(self, columns, batch_size):
        answers = []
        for _, p in zip(columns["text"], self.probabilities, strict=False):
            label = "good" if p > 0.5 else "bad"
            answers.append({"label": label, "probabilities": {"bad": 1 - p, "good": p}})
        return answers


def test_labels_and_pooling_go_to_the_task():
    rows = table(["good", "bad", "good"])
    assert FORM.task_arguments(rows, FinetuneConfig()) == {"labels": ["bad", "good"]}
    assert FORM.task_arguments(rows, FinetuneConfig(pooling="mean"))["pooling"] == "mean"


def test_an_unknown_label_of_the_validation_rows_is_told():
    with pytest.raises(ValueError, match=r"v\.tsv, line 3: the label 'fine' is unknown"):
        FORM.check(table(["good", "bad"]), table(["bad", "fine"], "v.tsv"), FinetuneConfig())


def test_accuracy_f1_and_loss_are_measured():
    metrics = FORM.measure(Fixed([0.9, 0.2, 0.6]), table(["good", "bad", "bad"]), 2)
    assert metrics["accuracy"] == pytest.approx(2 / 3)
    losses = [-math.log(0.9), -math.log(0.8), -math.log(0.4)]
    assert metrics["loss"] == pytest.approx(sum(losses) / 3)
    assert FORM.summary(metrics).startswith("accuracy 0.6667, macro F1 0.6667")


def test_every_label_may_weigh_the_same():
    given = {}

    class Task:
        def fit(self, *arguments, **options):
            given.update(options)

    rows = FORM.fit_rows(table(["good", "good", "good", "bad"]), None)
    FORM.fit(Task(), rows, rows, FinetuneConfig(class_weight="balanced"), verbose=0)
    assert given["class_weight"] == {"good": 4 / 6, "bad": 2.0}
    assert given["verbose"] == 0
    given.clear()
    FORM.fit(Task(), rows, rows, FinetuneConfig())
    assert "class_weight" not in given
