import pytest

from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.next_sentence import NextSentenceForm, read_sentence_pairs

FORM = NextSentenceForm()


@pytest.fixture
def write(tmp_path):
    def write(*labels):
        file = tmp_path / "a.tsv"
        lines = "".join(f"first {n}\tsecond {n}\t{label}\n" for n, label in enumerate(labels))
        file.write_text("text\ttext_pair\tlabel\n" + lines)
        return str(file)

    return write


def test_numbers_are_names_too(write):
    table = FORM.read_table(write("next", "1", "0", "random"))
    assert table.columns["label"] == ["next", "random", "next", "random"]
    assert table.lines == [2, 3, 4, 5]
    assert FORM.task_arguments(table, FinetuneConfig()) == {}
    FORM.check(table, table, FinetuneConfig())


def test_another_label_names_its_line(write):
    with pytest.raises(ValueError, match=r"a\.tsv, line 3: the label 'not_next' is unknown"):
        read_sentence_pairs(write("next", "not_next"))


def test_single_texts_are_refused(tmp_path, write):
    file = tmp_path / "b.tsv"
    file.write_text("text\tlabel\na\tnext\n")
    with pytest.raises(ValueError, match="the column `text_pair` is missing"):
        FORM.read_table(str(file))
    assert [row.values["text_pair"] for row in FORM.read_rows(write("x"))] == ["second 0"]
    with pytest.raises(ValueError, match="every row needs `text`, `text_pair`"):
        FORM.check_inputs(["text"])


def test_accuracy_is_measured(write):
    class Predictor:
        labels = ["next", "random"]
        pairs = True

        def answer(self, columns, batch_size):
            return [
                {"label": "next", "probabilities": {"next": 0.8, "random": 0.2}}
                for _ in columns["text"]
            ]

    metrics = FORM.measure(Predictor(), FORM.read_table(write("next", "random", "0")), 2)
    assert metrics["accuracy"] == pytest.approx(2 / 3)
    assert list(metrics["labels"]) == ["next", "random"]
