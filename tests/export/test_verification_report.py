import json
from pathlib import Path

import pytest

from kerazoo.export.verification_report import Check, Status, VerificationReport

OK = Check("layout", Status.OK, "The folder is version 3.")
WARNING = Check("weights", Status.WARNING, "Some are written twice.")
FAILED = Check("xla", Status.FAILED, "The graph needs XLA.")
NOT_RUN = Check("C++ load", Status.NOT_RUN, "No library here.")


def make_report(*checks, needs_server=">= 2.12"):
    return VerificationReport(Path("models/bbc/3"), list(checks), needs_server=needs_server)


@pytest.mark.parametrize(
    ("check", "ok"), [(OK, True), (WARNING, True), (FAILED, False), (NOT_RUN, False)]
)
def test_a_check_is_ok_if_it_was_run_and_passed(check, ok):
    assert check.ok is ok


def test_a_report_is_ok_unless_a_check_failed():
    assert make_report(OK, WARNING).ok
    assert make_report(OK, NOT_RUN).ok
    assert not make_report(OK, FAILED, WARNING).ok


def test_a_check_that_was_not_run_is_said_in_the_verdict():
    assert "This is not proved: C++ load could not be checked here." in str(
        make_report(OK, NOT_RUN)
    )
    assert "not proved" not in str(make_report(OK, WARNING))


def test_checks_are_found_by_their_status():
    report = make_report(OK, WARNING, FAILED, NOT_RUN)
    assert (report.failed, report.warnings, report.not_run) == ([FAILED], [WARNING], [NOT_RUN])


def test_the_text_has_a_line_for_each_check_and_a_verdict(make_signature):
    signature = make_signature({"text": ("string", (None,))}, {"score": ("float32", (None,))})
    report = VerificationReport(
        Path("models/bbc/3"), [OK, WARNING], {"serving_default": signature}, ">= 2.20"
    )
    assert str(report).splitlines() == [
        "models/bbc/3",
        "  serving_default: text: (batch,) string -> score: (batch,) float32",
        "  ok       layout   The folder is version 3.",
        "  warning  weights  Some are written twice.",
        "Stock TensorFlow Serving >= 2.20 should serve this folder.",
    ]


def test_the_text_of_a_failure_names_the_checks():
    last = str(make_report(OK, FAILED, needs_server=None)).splitlines()[-1]
    assert last == "Stock TensorFlow Serving would not serve this folder as it should: xla."


def test_the_dict_is_json(make_signature):
    signature = make_signature({"text": ("string", (None,))}, {"score": ("float32", None)})
    report = VerificationReport(Path("m/3"), [FAILED], {"serving_default": signature}, None)
    read = json.loads(json.dumps(report.to_dict()))
    assert read["ok"] is False
    assert read["needs_server"] is None
    assert read["signatures"][0]["outputs"] == {"score": {"dtype": "float32", "shape": None}}
    assert read["checks"] == [
        {"name": "xla", "ok": False, "status": "failed", "message": "The graph needs XLA."}
    ]
