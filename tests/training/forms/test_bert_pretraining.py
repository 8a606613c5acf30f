import pytest

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.bert_pretraining import BertPretrainingForm
from kerazoo.training.preset_predictor import PresetPredictor

FORM = BertPretrainingForm()
COLUMNS = {
    "text": ["a good film", "the play", "bad"],
    "text_pair": ["very good", "dull", "was it?"],
    "label": ["next", "random", "next"],
}


def test_both_parts_are_measured(make_tiny_bert_pretrainer):
    task = make_tiny_bert_pretrainer()
    table = Table("a.tsv", COLUMNS, [2, 3, 4])
    metrics = FORM.measure(PresetPredictor(task), table, batch_size=2)
    assert metrics["rows"] == 3
    assert metrics["loss"] == pytest.approx(
        metrics["masked_lm_loss"] + metrics["next_sentence_loss"], rel=1e-5
    )
    assert all(type(value) is float for name, value in metrics.items() if name != "rows")
    summary = FORM.summary(metrics)
    assert f"next-sentence accuracy {metrics['next_sentence_accuracy']:.4f}" in summary
    with pytest.raises(ValueError, match="Pre-training is measured on a preset"):
        FORM.measure(object(), table, 2)


def test_a_pair_is_not_answered():
    FORM.check_inputs(["text"])
    with pytest.raises(ValueError, match="masks of single texts.*finetune next-sentence.*Received"):
        FORM.check_inputs(["text", "text_pair"])


def test_pairs_to_learn_from_and_texts_to_answer(tmp_path):
    file = tmp_path / "a.tsv"
    rows = zip(*COLUMNS.values(), strict=True)
    file.write_text("\t".join(COLUMNS) + "\n" + "".join("\t".join(row) + "\n" for row in rows))
    table = FORM.read_table(str(file))
    assert list(FORM.columns(table)) == ["text", "text_pair"]
    assert FORM.targets(table, None) == FORM.split_labels(table, FinetuneConfig())
    assert FORM.task_arguments(table, FinetuneConfig(segmented=True)) == {"segmented": True}
    assert [list(row.values) for row in FORM.read_rows(str(file))] == [["text"]] * 3
    FORM.check(table, table, FinetuneConfig())
