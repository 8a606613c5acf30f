from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.plain_texts import PlainTextsForm


def test_labels_are_not_read(tmp_path):
    form = PlainTextsForm()
    file = tmp_path / "a.tsv"
    file.write_text("text\tlabel\nsome text\tx\n")
    table = form.read_table(str(file))
    assert table.columns == {"text": ["some text"]}
    assert form.targets(table, None) is None
    assert form.split_labels(table, FinetuneConfig()) == [""]
    form.check(table, table, FinetuneConfig())
    file = tmp_path / "a.txt"
    file.write_text("one\ntwo\n")
    assert [row.values for row in form.read_rows(str(file))] == [{"text": "one"}, {"text": "two"}]
