"""The metric against the report on the spans of each row, which equal `seqeval`'s."""

import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.metrics.entity_f1 import EntityF1
from kerazoo.metrics.entity_report import entity_report
from kerazoo.metrics.entity_spans import entity_spans

BIO = ["I-LOC", "O", "B-PER", "I-PER", "B-LOC"]
BIOES = ["O", "B-A", "I-A", "E-A", "S-A", "S-B"]


def batch(labels, rows=40, width=11, seed=3):
    generator = np.random.default_rng(seed)
    true = generator.integers(0, len(labels), (rows, width))
    other = generator.integers(0, len(labels), (rows, width))
    found = np.where(generator.random((rows, width)) < 0.75, true, other)
    weights = (generator.random((rows, width)) < 0.7) * 0.5
    weights[0] = 0
    return true.astype("int32"), found.astype("int32"), weights.astype("float32")


def spans(tags, weights, labels, mode):
    return [
        entity_spans([labels[t] for t, w in zip(row, weight, strict=True) if w], mode)
        for row, weight in zip(tags, weights, strict=True)
    ]


@pytest.mark.parametrize(
    ("labels", "mode"), [(BIO, "default"), (BIO, "strict"), (BIOES, "default")]
)
def test_it_equals_the_report_on_entities(labels, mode):
    true, found, weights = batch(labels)
    metric = EntityF1(labels, mode)
    logits = np.eye(len(labels), dtype="float32")[found]
    for part in (slice(0, 13), slice(13, 40)):
        metric.update_state(true[part], logits[part], weights[part])
    expected = entity_report(*(spans(t, weights, labels, mode) for t in (true, found)))
    report = metric.report()
    assert float(metric.result()) == pytest.approx(expected["f1"])
    for key in ("precision", "recall", "f1"):
        assert report[key] == pytest.approx(expected[key])
        for kind, measures in expected["types"].items():
            assert report["types"][kind][key] == pytest.approx(measures[key])
    assert 0.1 < report["f1"] < 0.9
    tags = EntityF1(labels, mode)
    tags.update_state(true, found, weights)
    np.testing.assert_array_equal(*(ops.convert_to_numpy(m.counts) for m in (tags, metric)))


def test_padding_and_outside_tags_are_worth_nothing():
    """A row of padding and of O is no success: nothing was found."""
    metric = EntityF1(BIO)
    true = np.array([[1, 2, 3, 1, 1]])
    metric.update_state(true, np.ones_like(true))
    assert float(metric.result()) == 0
    metric.reset_state()
    metric.update_state(true, true, np.array([[1, 1, 1, 0, 0]]))
    assert float(metric.result()) == 1
    only_outside = EntityF1(["O", "O2"][:1])
    only_outside.update_state(np.zeros((2, 3), "int32"), np.zeros((2, 3), "int32"))
    assert float(only_outside.result()) == 0
    assert only_outside.report()["types"] == {}


def test_config_and_mode():
    metric = EntityF1(BIO, "strict", name="f")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(metric))
    assert (copy.labels, copy.mode, copy.name) == (BIO, "strict", "f")
    with pytest.raises(ValueError, match="mode"):
        EntityF1(BIO, "lenient")
