import numpy as np
import pytest
import tensorflow as tf
from tiny_token_classifier import TEXTS, tiny_token_classifier

from kerazoo.export.verification_report import Status
from kerazoo.export.verify import verify_saved_model
from kerazoo.tasks.entity_answers import entity_answers
from kerazoo.tasks.token_classifier_signatures import SERVED_ENTITIES

pytestmark = pytest.mark.tensorflow

NASTY = [
    " " * 10 + "Ada  came",
    "αβγ用δ 表示角αβγ",
    "β-blocker and Ångström, İda",
    "👍🏽 小e\u0301",
]
MANY = [*TEXTS, *NASTY, "Ada, 小明 cats. " * 40 + "😀 Cafe\u0301s"]


@pytest.fixture(scope="module", params=[False, True], ids=["softmax", "crf"])
def exported(request, tmp_path_factory):
    task = tiny_token_classifier(request.param)
    folder = task.export(tmp_path_factory.mktemp("exported") / "ner")
    return task, folder, tf.saved_model.load(str(folder))


@pytest.mark.slow
def test_stock_serving_would_serve_it(exported):
    report = verify_saved_model(exported[1])
    assert report.ok, report
    # The signature for ready ids has an open width, as that of every task has.
    assert {c.name for c in report.checks if c.status is not Status.OK} <= {"inputs"}, report


def test_entities_are_pythons_with_characters_as_offsets(exported):
    task, _, model = exported
    outputs = model.signatures["serving_default"](text=tf.constant(MANY))
    assert outputs["entities"].shape == (len(MANY), SERVED_ENTITIES)
    found = entity_answers({key: value.numpy() for key, value in outputs.items()})
    tagged = task.tag(MANY)
    if task.crf is not None:
        # The moves decide, so that decoding without them would be seen.
        assert tagged != tiny_token_classifier().tag(MANY)
    for text, row, expected in zip(MANY, found, tagged, strict=True):
        assert row["count"] == len(expected["entities"])
        for entity, other in zip(row["entities"], expected["entities"], strict=False):
            assert entity == pytest.approx(other, abs=1e-4)
            assert text[entity["start"] : entity["end"]] == entity["text"]
    # The last one has more than are listed; where there are fewer, the rest is empty.
    assert found[-1]["count"] > SERVED_ENTITIES == len(found[-1]["entities"])
    count = found[0]["count"]
    assert not any(outputs["entities"].numpy()[0, count:])
    assert not outputs["ends"].numpy()[0, count:].any()


def test_ready_ids_give_logits(exported):
    task, _, model = exported
    features = task.windows(TEXTS).features
    arguments = {key: tf.constant(features[key]) for key in task.input}
    outputs = model.signatures["features"](**arguments)
    np.testing.assert_allclose(outputs["logits"].numpy(), task(arguments), atol=1e-4)
