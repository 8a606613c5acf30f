import math

import pytest

from kerazoo.training.evaluate import evaluate


@pytest.fixture
def data(tmp_path, seven_rows):
    file = tmp_path / "data.tsv"
    labels = ["bad", "good", "mixed", "good", "bad", "bad", "good"]
    lines = [
        f"{row.values['text']}\t{label}" for row, label in zip(seven_rows, labels, strict=True)
    ]
    file.write_text("\n".join(["text\tlabel", *lines]) + "\n")
    return file


def test_answers_are_compared_with_labels(preset, data, tiny_text_classifier):
    report = evaluate(preset, str(data), batch_size=3)
    lines = [line.split("\t") for line in data.read_text().splitlines()[1:]]
    answers = tiny_text_classifier.classify([text for text, _ in lines])
    right = [answer["label"] == label for answer, (_, label) in zip(answers, lines, strict=True)]
    losses = [-math.log(a["probabilities"][b]) for a, (_, b) in zip(answers, lines, strict=True)]
    assert report["accuracy"] == sum(right) / 7
    assert report["loss"] == pytest.approx(sum(losses) / 7, abs=1e-6)
    assert {label: row["support"] for label, row in report["labels"].items()} == {
        "bad": 3,
        "good": 3,
        "mixed": 1,
    }


def test_a_saved_model_gives_the_same_report(preset, tiny_saved_model, data):
    ours, served = evaluate(preset, str(data)), evaluate(tiny_saved_model, str(data))
    assert served.pop("loss") == pytest.approx(ours.pop("loss"), abs=1e-6)
    assert served == ours


def test_an_unknown_label_is_named(preset, data):
    data.write_text(data.read_text() + "fine\texcellent\n")
    with pytest.raises(ValueError, match=r"data\.tsv, line 9: the label 'excellent' is unknown"):
        evaluate(preset, str(data))


def test_a_batch_of_zero_is_refused(preset, data):
    with pytest.raises(ValueError, match="batch_size=0"):
        evaluate(preset, str(data), batch_size=0)
