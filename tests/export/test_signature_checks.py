import pytest

from kerazoo.export.signature_checks import check_signatures
from kerazoo.export.verification_report import Status

TEXT = {"text": ("string", (None,))}
SCORE = {"score": ("float32", (None,))}


def check(signature, name):
    checks = {c.name: c for c in check_signatures({signature.name: signature})}
    return checks[name]


def test_a_good_signature_passes(make_signature):
    signature = make_signature(TEXT, {"labels": ("string", (None, 3)), **SCORE})
    assert check(signature, "inputs").status is Status.OK
    assert check(signature, "outputs").status is Status.OK


def test_a_model_without_signatures_is_refused():
    (only,) = check_signatures({})
    assert only.status is Status.FAILED
    assert "no signature" in only.message


def test_a_signature_without_inputs_is_refused(make_signature):
    found = check(make_signature({}, SCORE), "inputs")
    assert found.status is Status.FAILED
    assert "Signature 'serving_default' has no input" in found.message


def test_a_signature_without_outputs_is_refused(make_signature):
    found = check(make_signature(TEXT, {}), "outputs")
    assert found.status is Status.FAILED
    assert "has no output" in found.message


@pytest.mark.parametrize(
    ("dtype", "shape", "words"),
    [
        ("float16", (None, 3), "is float16, which JSON cannot hold; cast it (floats to float32)."),
        ("bfloat16", (None, 3), "is bfloat16, which JSON cannot hold"),
        ("uint16", (None,), "is uint16, which JSON cannot hold"),
        ("complex64", (None,), "is complex64, which JSON cannot hold"),
        ("float32", (), "is a scalar; give it a batch dimension"),
        ("float32", None, "has no known rank; set it with tf.ensure_shape"),
        ("float32", (3, 7), "has a first dimension of 3, where the batch must be"),
    ],
)
@pytest.mark.parametrize("kind", ["input", "output"])
def test_tensors_that_do_not_fit_a_request_or_an_answer(make_signature, kind, dtype, shape, words):
    faulty = {"faulty": (dtype, shape)}
    inputs, outputs = (faulty, SCORE) if kind == "input" else (TEXT, faulty)
    found = check(make_signature(inputs, outputs), f"{kind}s")
    assert found.status is Status.FAILED
    assert f"{kind.capitalize()} 'faulty' of signature 'serving_default' {words}" in found.message


def test_inputs_of_open_width_are_a_warning(make_signature):
    signature = make_signature({"token_ids": ("int32", (None, None))}, SCORE, name="features")
    found = check(signature, "inputs")
    assert found.status is Status.WARNING
    assert found.message.startswith("features.token_ids: the width is open")


def test_a_long_list_of_faults_is_shortened(make_signature):
    outputs = {f"output_{number}": ("float32", ()) for number in range(7)}
    found = check(make_signature(TEXT, outputs), "outputs")
    assert found.message.count("is a scalar") == 4
    assert found.message.endswith("And 3 more.")
