"""Check the values a model answers: fit for JSON, and the same in C++ as in Python."""

from collections.abc import Iterator

import numpy as np

from kerazoo.export.graph_nodes import GraphNodes
from kerazoo.export.replay import Answer, LoadedModel, shorten
from kerazoo.export.server_session import ModelError
from kerazoo.export.verification_report import Check, Status

BYTES_SUFFIX = "_bytes"  # the server writes such outputs in base64
EXACT_TOLERANCE = 1e-5
# One step of rounding, in half precision or of an 8-bit activation, shows in the second digit.
ROUNDED_TOLERANCE = 2e-2
_ROUNDED_DTYPES = frozenset({19, 14, 6})  # DT_HALF, DT_BFLOAT16, DT_INT8


def answer_tolerance(nodes: GraphNodes) -> float:
    """Returns how far two runs of a graph may differ: 1e-5, or 2e-2 if it rounds within."""
    for node in nodes.reachable:
        if any(value.type in _ROUNDED_DTYPES for value in node.definition.attr.values()):
            return ROUNDED_TOLERANCE
    return EXACT_TOLERANCE


def arrays_agree(left: np.ndarray, right: np.ndarray, tolerance: float) -> bool:
    """Returns whether two answers agree: shapes and strings exactly, numbers within a tolerance."""
    if left.shape != right.shape:
        return False
    if left.dtype == object or right.dtype == object or left.dtype.kind not in "fc":
        return bool(np.array_equal(left, right))
    return bool(np.allclose(left, right, rtol=tolerance, atol=tolerance, equal_nan=True))


def check_values(answers: list[Answer]) -> Check:
    """Checks that answers can be written as JSON: strings in UTF-8, numbers finite.

    Args:
        answers: The answers of the replayed requests.

    Returns:
        The check; a number that is not finite is a warning.
    """
    if not answers:
        return Check("values", Status.NOT_RUN, "There are no answers to look at.")
    not_text = sorted({place for answer in answers for place in _not_text(answer)})
    if not_text:
        message = (
            f"{', '.join(not_text)}: not valid UTF-8, so the answer is not valid JSON. Pass it "
            "through tf.strings.unicode_transcode(x, 'UTF-8', 'UTF-8', errors='replace'), or let "
            f"the output's name end in {BYTES_SUFFIX} (base64)."
        )
        return Check("values", Status.FAILED, message)
    not_finite = sorted({place for answer in answers for place in _not_finite(answer)})
    if not_finite:
        message = (
            f"{', '.join(not_finite)}: NaN or infinite, which the server writes as bare words "
            "that strict JSON readers refuse. Look at the weights and at the request."
        )
        return Check("values", Status.WARNING, message)
    return Check("values", Status.OK, "Strings are valid UTF-8 and numbers are finite.")


def _not_text(answer: Answer) -> Iterator[str]:
    for name, array in answer.outputs.items():
        if array.dtype == object and not name.endswith(BYTES_SUFFIX):
            if not all(_is_utf8(value) for value in array.flat):
                yield f"{answer.signature.name}.{name}"


def _is_utf8(value: bytes) -> bool:
    try:
        value.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _not_finite(answer: Answer) -> Iterator[str]:
    for name, array in answer.outputs.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            yield f"{answer.signature.name}.{name}"


def check_same_answers(answers: list[Answer], python: LoadedModel, tolerance: float) -> Check:
    """Checks that the C++ answers are those of ``tf.saved_model.load`` in Python.

    Args:
        answers: The answers of the C++ session.
        python: The same model, loaded in Python.
        tolerance: How far numbers may differ, relatively and absolutely.

    Returns:
        The check.
    """
    for answer in answers:
        name = answer.signature.name
        try:
            expected = python.run(answer.signature, answer.inputs)
        except ModelError as error:
            message = f"Signature '{name}' answers in C++ and fails in Python: {shorten(error)}"
            return Check("same answers", Status.FAILED, message)
        for output, array in answer.outputs.items():
            if not arrays_agree(array, expected[output], tolerance):
                message = (
                    f"{name}.{output} {_difference(array, expected[output])}. A graph that draws "
                    "random numbers or keeps state does this; served graphs should do neither."
                )
                return Check("same answers", Status.FAILED, message)
    message = f"C++ and Python agree (numbers within {tolerance:g}, strings exactly)."
    return Check("same answers", Status.OK, message)


def _difference(array: np.ndarray, expected: np.ndarray) -> str:
    if array.shape != expected.shape:
        return f"has the shape {array.shape} in C++ and {expected.shape} in Python"
    if array.dtype.kind in "fc":
        return f"differs by up to {np.abs(array - expected).max():.3g} between C++ and Python"
    return "differs between C++ and Python"
