import numpy as np
import pytest

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.text_similarity import TextSimilarityForm

FORM = TextSimilarityForm()


def table(labels, path="a.tsv"):
    rows = len(labels)
    columns = {"text": ["a"] * rows, "text_pair": ["b"] * rows, "label": list(labels)}
    return Table(path, columns, list(range(2, 2 + rows)))


class Task:
    def __init__(self, labels):
        self.labels = labels


@pytest.mark.parametrize(
    ("labels", "regression", "expected"),
    [
        (["same", "other", "same"], None, {"labels": ["other", "same"]}),
        (["1", "0", "1"], None, {"labels": ["0", "1"]}),
        (["1", "0.5", "3"], None, {}),
        (["1", "0", "5"], True, {}),
        (["1.5", "0", "5"], False, {"labels": ["0", "1.5", "5"]}),
    ],
)
def test_fractions_are_scores_unless_it_is_said_otherwise(labels, regression, expected):
    config = FinetuneConfig(regression=regression)
    assert FORM.task_arguments(table(labels), config) == expected
    FORM.check(table(labels), table(labels), config)
    split = FORM.split_labels(table(labels), config)
    assert split == (labels if expected else [""] * 3)


def test_targets_are_names_or_numbers():
    assert FORM.targets(table(["1", "0"]), Task(["0", "1"])) == ["1", "0"]
    scores = FORM.targets(table(["1", "0.25"]), Task([]))
    assert scores.dtype == np.float32
    assert scores.tolist() == [1.0, 0.25]


def test_a_score_that_is_no_number_names_its_line():
    with pytest.raises(ValueError, match=r"v\.tsv, line 3: the score 'same' is no number"):
        FORM.check(table(["1.5", "2"]), table(["1", "same"], "v.tsv"), FinetuneConfig())
    with pytest.raises(ValueError, match="the score 'nan' is no number"):
        FORM.check(table(["nan", "2"]), table(["1", "2"]), FinetuneConfig(regression=True))
    for wrong in ("nan", "inf", "1e400", "n/a"):
        with pytest.raises(ValueError, match=f"line 4: the score '{wrong}' is no number"):
            FORM.check(table(["1.5", "2", wrong]), table(["1", "2"]), FinetuneConfig())


def test_scores_are_measured_by_correlation():
    class Predictor:
        labels = []
        pairs = True

        def answer(self, columns, batch_size):
            return [{"score": 2.0 * len(text)} for text in columns["text"]]

    rows = table(["1.0", "2.5", "3.0"])
    rows.columns["text"] = ["a", "bb", "ccc"]
    metrics = FORM.measure(Predictor(), rows, 2)
    assert metrics["spearman"] == pytest.approx(1)
    assert FORM.summary(metrics) == f"Pearson {metrics['pearson']:.4f}, Spearman 1.0000"


def test_files_need_pairs(tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("text\tlabel\na\t1.5\n")
    with pytest.raises(ValueError, match="the column `text_pair` is missing"):
        FORM.read_table(str(file))
    file.write_text("text\ttext_pair\tlabel\na\tb\t1.5\n")
    assert FORM.read_table(str(file)).columns["text_pair"] == ["b"]
    assert [row.values for row in FORM.read_rows(str(file))] == [{"text": "a", "text_pair": "b"}]
