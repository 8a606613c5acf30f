import pytest

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.base import Form

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


def test_the_last_batch_of_an_epoch_may_be_smaller():
    assert Form().steps_of_an_epoch(None, table(text=["a"] * 9), CONFIG) == 3
    assert Form().steps_of_an_epoch(None, table(text=["a"] * 8), CONFIG) == 2


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
