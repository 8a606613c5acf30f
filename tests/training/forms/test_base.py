import pytest

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import FitRows, Form

CONFIG = FinetuneConfig(batch_size=4)


def table(path="a.tsv", **columns):
    return Table(path, columns, list(range(2, 2 + len(next(iter(columns.values()))))))


def test_only_the_input_columns_are_answered():
    rows = table(text=["a", "b"], label=["x", "y"])
    assert Form().columns(rows) == {"text": ["a", "b"]}
    assert Form().targets(rows, None) == Form().split_labels(rows, CONFIG) == ["x", "y"]


def test_pairs_in_only_one_file_are_told():
    pairs, single = table("p.tsv", text=["a"], text_pair=["b"]), table("s.tsv", text=["a"])
    Form().check(pairs, pairs, CONFIG)
    with pytest.raises(ValueError, match=r"p\.tsv has the column `text_pair` and s\.tsv has not"):
        Form().check(single, pairs, CONFIG)


def test_a_missing_column_is_told():
    Form.task_name = "any"
    with pytest.raises(ValueError, match="every row needs `text`. Received: rows without `text`"):
        Form().check_inputs(["context"])
    Form().check_inputs(["text"])
    del Form.task_name


def test_rows_go_to_fit_as_they_are():
    rows = Form().fit_rows(table(text=["a", "b", "c"], label=["x", "y", "x"]), None)
    assert rows == FitRows(3, {"text": ["a", "b", "c"]}, ["x", "y", "x"])
    seen = {}

    class Task:
        def fit(self, x, y, **options):
            seen.update(options, x=x, y=y)

    Form().fit(Task(), rows, rows, CONFIG, verbose=0)
    assert seen == {
        "x": rows.x,
        "y": rows.y,
        "sample_weight": None,
        "validation_data": (rows.x, rows.y, None),
        "batch_size": 4,
        "verbose": 0,
    }


def test_rows_that_fit_got_are_found_in_their_file():
    rows = table(text=["a", "b", "c"], label=["x", "y", "x"])
    assert Form().where(rows, Form().fit_rows(rows, None), [2, 0]) == "lines 2, 4 of a.tsv"
    windows = FitRows(5, None, None, row_of_each=[0, 1, 1, 1, 2])
    assert Form().where(rows, windows, [3, 4, 1]) == "lines 3, 4 of a.tsv"


def test_tables_are_answered_in_portions():
    class Predictor:
        sizes = []

        def answer(self, columns, batch_size):
            self.sizes.append(len(columns["text"]))
            return [{"label": text} for text in columns["text"]]

    from kerazoo.training.progress import SILENT

    texts = [str(number) for number in range(70)]
    answers = Form().answer_table(Predictor(), table(text=texts), 2, SILENT)
    assert [answer["label"] for answer in answers] == texts
    assert Predictor.sizes == [32, 32, 6]
