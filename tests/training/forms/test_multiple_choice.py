import json
import math

import pytest

from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.multiple_choice import MultipleChoiceForm

FORM = MultipleChoiceForm()
ROWS = [
    {"context": "It rained.", "question": "What then?", "choices": ["wet", "dry"], "label": 0},
    {"context": "Dinner.", "question": "What then?", "choices": ["a", "b", "c"], "label": 2},
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return str(path)


def test_rows_become_columns(file):
    table = FORM.read_table(file)
    assert FORM.columns(table) == {
        "context": ["It rained.", "Dinner."],
        "question": ["What then?"] * 2,
        "choices": [["wet", "dry"], ["a", "b", "c"]],
    }
    assert FORM.targets(table, None) == [0, 2]
    assert FORM.split_labels(table, FinetuneConfig()) == ["0", "2"]
    assert FORM.task_arguments(table, FinetuneConfig()) == {}
    FORM.check(table, table, FinetuneConfig())


def test_rows_without_labels_can_be_answered(file):
    assert [row.values["choices"] for row in FORM.read_rows(file)] == [["wet", "dry"], list("abc")]
    with pytest.raises(ValueError, match="every row needs `choices`"):
        FORM.check_inputs(["text"])


def test_accuracy_stands_beside_guessing(file):
    class Predictor:
        pairs = False

        def answer(self, columns, batch_size):
            return [{"choice": 0, "scores": [0.75, 0.25]}, {"choice": 0, "scores": [0.5, 0.3, 0.2]}]

    metrics = FORM.measure(Predictor(), FORM.read_table(file), 4)
    assert metrics == {
        "rows": 2,
        "accuracy": 0.5,
        "chance": pytest.approx((1 / 2 + 1 / 3) / 2),
        "loss": pytest.approx(-(math.log(0.75) + math.log(0.2)) / 2),
    }
    assert FORM.summary(metrics) == "accuracy 0.5000 (guessing 0.4167)"
