import numpy as np
import pytest
import tensorflow as tf
from tiny_extractive_qa import LONG, ROWS, questions, tiny_extractive_qa

from kerazoo.export.verification_report import Status
from kerazoo.export.verify import verify_saved_model
from kerazoo.tasks.span_answers import span_answers

pytestmark = pytest.mark.tensorflow

MANY = [
    *ROWS,
    ("who?", "", None),
    ("what came with the cat?", LONG * 3 + " 😀", None),
    ("αβγ?", " " * 10 + "用αβγ 表示角 β-blocker Ångström", None),
    ("谁 1998?", "👍🏽 1998年 e\u0301\u0301小明 2.5%", None),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_extractive_qa().export(tmp_path_factory.mktemp("exported") / "qa")


@pytest.fixture(scope="module")
def model(folder):
    return tf.saved_model.load(str(folder))


def served(model, rows):
    columns = {key: tf.constant(value) for key, value in questions(rows).items()}
    outputs = model.signatures["serving_default"](**columns)
    return span_answers({key: value.numpy() for key, value in outputs.items()})


@pytest.mark.slow
def test_stock_serving_would_serve_it(folder):
    report = verify_saved_model(folder)
    assert report.ok, report
    # The signature for ready ids has an open width, as that of every task has.
    assert {c.name for c in report.checks if c.status is not Status.OK} <= {"inputs"}, report


def test_answers_are_pythons_with_characters_as_offsets(model):
    expected = tiny_extractive_qa().answer(questions(MANY))
    for row, (found, answer) in enumerate(zip(served(model, MANY), expected, strict=True)):
        context = MANY[row][1]
        assert found["answer"] == answer["answer"] == context[found["start"] : found["end"]]
        assert found["score"] == pytest.approx(answer["score"], abs=1e-4)
        assert [e["answer"] for e in found["n_best"]] == [e["answer"] for e in answer["n_best"]]
        for entry in found["n_best"]:
            assert context[entry["start"] : entry["end"]] == entry["answer"]
    assert len({answer["answer"] for answer in expected}) > 3


def test_a_question_without_room_spoils_no_batch(model):
    found = served(model, [ROWS[0], ("who " * 30, LONG, None)])
    assert found[0]["answer"] == served(model, ROWS[:1])[0]["answer"]
    assert (found[1]["answer"], found[1]["score"], found[1]["n_best"]) == ("", 0.0, [])


def test_ready_ids_give_logits(model):
    task = tiny_extractive_qa()
    features = task.windows(questions()).features
    outputs = model.signatures["features"](**{k: tf.constant(features[k]) for k in task.input})
    expected = task({key: features[key] for key in task.input})
    for key in ("start_logits", "end_logits"):
        np.testing.assert_allclose(outputs[key].numpy(), expected[key], atol=1e-4)
