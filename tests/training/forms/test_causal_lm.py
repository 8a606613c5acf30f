import math

import pytest

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.causal_lm import CausalLMForm
from kerazoo.training.preset_predictor import PresetPredictor

FORM = CausalLMForm()
TEXTS = ["the good", "a the good!", "good good good the", "x" * 50]


@pytest.fixture(scope="module")
def task(make_tiny_causal_lm):
    task = make_tiny_causal_lm(sequence_length=9)
    task.compile(jit_compile=False)
    return task


def table():
    return Table("a.txt", {"text": list(TEXTS)}, [1, 2, 3, 4])


def test_the_perplexity_is_that_of_the_joined_texts(task):
    from kerazoo.preprocessing.joined_rows import joined_rows

    metrics = FORM.measure(PresetPredictor(task), table(), batch_size=3)
    rows = joined_rows(task.preprocessor, TEXTS)
    logits = task.without_preprocessor
    with logits():
        outputs = task.predict(rows.features, verbose=0)
    import numpy as np

    shifted = outputs - outputs.max(-1, keepdims=True)
    log_probabilities = shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))
    losses = -np.take_along_axis(log_probabilities, rows.targets[..., None], -1)[..., 0]
    expected = float((losses * rows.weights).sum() / rows.weights.sum())
    assert metrics["loss"] == pytest.approx(expected, rel=1e-4)
    assert metrics["perplexity"] == pytest.approx(math.exp(expected), rel=1e-3)
    assert metrics["tokens"] == int(rows.weights.sum())
    assert metrics["rows"] == 4
    assert FORM.summary(metrics).startswith(f"perplexity {metrics['perplexity']:.3f}, accuracy 0.")


def test_rows_are_joined_for_training(task):
    config = FinetuneConfig(batch_size=2)
    rows = FORM.fit_rows(table(), task)
    assert rows.count > 4  # more than texts
    seen = {}

    class Task:
        preprocessor = task.preprocessor
        without_preprocessor = task.without_preprocessor

        def fit(self, x, y, **options):
            seen.update(options, x=x, y=y)

    FORM.fit(Task(), rows, rows, config, verbose=0)
    assert seen["x"]["token_ids"].shape[1] == 9
    assert len(seen["y"]) == len(seen["sample_weight"]) == rows.count
    assert len(seen["validation_data"]) == 3
    assert FORM.count_truncated(task, table()) == 0


def test_labels_are_not_read(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("text\tlabel\nsome text\tx\n")
    assert FORM.read_table(str(file)).columns == {"text": ["some text"]}
    file = tmp_path / "a.txt"
    file.write_text("one\ntwo\n")
    assert [row.values for row in FORM.read_rows(str(file))] == [{"text": "one"}, {"text": "two"}]


def test_an_exported_model_has_no_perplexity():
    with pytest.raises(ValueError, match="The perplexity is measured on a preset"):
        FORM.measure(object(), table(), 2)
