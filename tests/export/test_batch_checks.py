import numpy as np
import pytest

from kerazoo.export.batch_checks import check_batches
from kerazoo.export.replay import Answer
from kerazoo.export.server_session import ModelError
from kerazoo.export.verification_report import Status

NUMBERS = {"x": np.arange(10, dtype=np.float32).reshape(2, 5)}


def check(make_signature, model, inputs, outputs=("y",)):
    kinds = {name: ("float32", (None,)) for name in outputs}
    signature = make_signature({name: ("float32", (None,)) for name in inputs}, kinds)
    batches, neighbours = check_batches(model, [Answer(signature, inputs, {})], 1e-5)
    assert (batches.name, neighbours.name) == ("batches", "neighbours")
    return batches, neighbours


def lengths(text, width=None):
    """Each text's words as numbers, padded to the batch's longest, or to a fixed width."""
    rows = [[len(word) for word in value.split()] for value in text]
    width = width or max(len(row) for row in rows)
    return np.array([(row + [0] * width)[:width] for row in rows], np.float32)


def test_rows_that_are_computed_by_themselves_pass(make_signature, function_model, text_array):
    model = function_model(lambda text: {"y": lengths(text, width=4)})
    texts = {"text": text_array("a bb", "ccc")}
    assert [c.status for c in check(make_signature, model, texts)] == [Status.OK, Status.OK]


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda x: x.sum(), "has the shape () for 1 row; its first dimension must be the batch"),
        (lambda x: x.sum(0), "has the shape (5,) for 1 row;"),
        (lambda x: x[:1], "has the shape (1, 5) for 3 rows;"),
        (lambda x: np.repeat(x, 2, 0), "has the shape (2, 5) for 1 row;"),
        (lambda x: x + len(x), "is not the same for a row alone and 3 times over"),
        (lambda x: x - x.sum(0), "is not the same for a row alone and 3 times over"),
    ],
    ids=["scalar", "constant size", "one row", "two rows", "count", "sum"],
)
def test_outputs_that_are_not_rows_are_refused(make_signature, function_model, function, words):
    model = function_model(lambda x: {"y": function(x)})
    batches, _ = check(make_signature, model, NUMBERS)
    assert batches.status is Status.FAILED
    assert f"Output 'y' of signature 'serving_default' {words}" in batches.message


def test_every_output_is_looked_at(make_signature, function_model):
    model = function_model(lambda x: {"y": x, "z": x.sum()})
    batches, _ = check(make_signature, model, NUMBERS, outputs=("y", "z"))
    assert "Output 'z'" in batches.message


def test_a_width_that_depends_on_the_neighbours_is_a_warning(
    make_signature, function_model, text_array
):
    model = function_model(lambda text: {"y": lengths(text)})
    batches, neighbours = check(make_signature, model, {"text": text_array("a bb", "ccc")})
    assert batches.status is Status.OK
    assert neighbours.status is Status.WARNING
    assert "changes from the shape (2,) to (10,)" in neighbours.message
    assert "to_tensor(shape=[None, width])" in neighbours.message


def test_values_that_depend_on_the_neighbours_are_a_warning(
    make_signature, function_model, text_array
):
    def serve(text):
        rows = lengths(text, width=4)
        return {"y": rows - rows.max()}

    texts = {"text": text_array("a bb")}
    _, neighbours = check(make_signature, function_model(serve), texts)
    assert neighbours.status is Status.OK  # five times the text has the same longest word
    _, neighbours = check(make_signature, function_model(serve), {"text": text_array("")})
    assert neighbours.status is Status.WARNING  # beside the empty text stands one with words


def test_numbers_and_records_have_no_longer_neighbour(make_signature, function_model):
    calls = []

    def serve(**inputs):
        calls.append(inputs)
        return {"y": np.zeros(len(next(iter(inputs.values()))), np.float32)}

    record = {"record": np.array([b"\n\x0e\n\x0c\x08\x01\xff"], object)}
    for inputs in (NUMBERS, record):
        _, neighbours = check(make_signature, function_model(serve), inputs)
        assert neighbours.status is Status.OK
    assert len(calls) == 4  # one row and three rows of each


def test_failures_are_said(make_signature, function_model, text_array):
    def serve(text):
        if len(text) > 1 and len(text[1]) > 4:
            raise ModelError("too long")
        if len(text) == 3 and text[0] == b"bad":
            raise ModelError("too many")
        return {"y": lengths(text, width=4)}

    model = function_model(serve)
    batches, neighbours = check(make_signature, model, {"text": text_array("a bb")})
    assert batches.status is Status.OK
    assert "fails on a longer text: too long" in neighbours.message
    batches, _ = check(make_signature, model, {"text": text_array("bad")})
    assert batches.status is Status.FAILED
    assert "fails with 1 or 3 rows: too many" in batches.message


def test_without_rows_or_process_nothing_is_said(make_signature, function_model):
    model = function_model(lambda x: {"y": x})
    empty = {"x": np.zeros([0, 5], np.float32)}
    assert [c.status for c in check(make_signature, model, empty)] == [Status.NOT_RUN] * 2
    model.is_alive = False
    batches, _ = check(make_signature, model, NUMBERS)
    assert batches.status is Status.NOT_RUN
    assert "The process ended at an earlier request." in batches.message
