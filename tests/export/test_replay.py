import numpy as np

from kerazoo.export.prediction_log import PredictionLog
from kerazoo.export.replay import check_replay, shorten
from kerazoo.export.server_session import ModelError
from kerazoo.export.verification_report import Status

ROWS = np.arange(21, dtype=np.float32).reshape(3, 7)


def make_signatures(make_signature):
    table = ({"x": ("float32", (None, 7))}, {"y": ("float32", (None, 7))})
    return {name: make_signature(*table, name=name) for name in ("serving_default", "features")}


def make_logs(*names):
    return [PredictionLog("m", name, {"x": ROWS + i}) for i, name in enumerate(names)]


def test_every_request_is_replayed(make_signature, function_model):
    model = function_model(lambda x: {"y": x * 2})
    logs = make_logs("serving_default", "features", "serving_default")
    check, answers = check_replay(model, make_signatures(make_signature), logs)
    assert check.status is Status.OK
    assert [answer.signature.name for answer in answers] == [log.signature_name for log in logs]
    for answer, log in zip(answers, logs, strict=True):
        np.testing.assert_array_equal(answer.outputs["y"], log.inputs["x"] * 2)


def test_the_first_failure_is_said_and_the_others_are_answered(make_signature, function_model):
    def serve(x):
        if x[0, 0] > 0:
            raise ModelError("Could not find variable dense/kernel.\n\n  It may be gone.")
        return {"y": x}

    logs = make_logs("serving_default", "features", "serving_default")
    check, answers = check_replay(function_model(serve), make_signatures(make_signature), logs)
    assert check.status is Status.FAILED
    assert check.message.startswith(
        "2 of 3 requests fail; the first is request 1 (features): Could not find variable "
        "dense/kernel. It may be gone. Do not save a tf.Module"
    )
    assert len(answers) == 1


def test_nothing_to_replay_is_said(make_signature, function_model):
    check, answers = check_replay(function_model(dict), make_signatures(make_signature), [])
    assert check.status is Status.NOT_RUN and answers == []


def test_long_messages_are_cut():
    assert shorten(ValueError("a\n  b")) == "a b"
    assert shorten(ValueError("x" * 30), limit=10) == "x" * 10 + " …"
