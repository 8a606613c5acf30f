"""Check that a row's answer does not depend on the rows that share its batch.

A server that batches joins the rows of several requests along dimension 0, runs the graph once and
splits every output along dimension 0.
"""

import numpy as np

from kerazoo.export.answer_checks import arrays_agree
from kerazoo.export.replay import Answer, LoadedModel, shorten
from kerazoo.export.server_session import ModelError
from kerazoo.export.verification_report import Check, Status

ROWS = 3
# Another batch size takes another path through the matrix product; this is about mixed-up rows.
SMALLEST_TOLERANCE = 1e-4


def check_batches(model: LoadedModel, answers: list[Answer], tolerance: float) -> list[Check]:
    """Replays one row of a request of each signature alone, three times over, and beside another.

    Args:
        model: The loaded model.
        answers: The answers of the replayed requests; the first of each signature is used.
        tolerance: How far numbers may differ.

    Returns:
        Two checks: dimension 0 of each output is the batch, and a longer text in the same batch
        changes neither the shape nor the values of a row's answer.
    """
    tolerance = max(tolerance, SMALLEST_TOLERANCE)
    first: dict[str, Answer] = {}
    for answer in answers:
        if all(array.ndim and len(array) for array in answer.inputs.values()):
            first.setdefault(answer.signature.name, answer)
    if not first or not model.is_alive:
        reason = "There is no answered request with a row to repeat."
        if first:
            reason = "The process ended at an earlier request."
        return [Check(name, Status.NOT_RUN, reason) for name in ("batches", "neighbours")]
    faults = [_find_batch_fault(model, answer, tolerance) for answer in first.values()]
    warnings = [_find_neighbour_fault(model, answer, tolerance) for answer in first.values()]
    return [
        _check(
            *("batches", Status.FAILED, faults),
            f"A row is answered the same alone and {ROWS} times over.",
        ),
        _check(
            *("neighbours", Status.WARNING, warnings),
            "A longer text in the batch does not change a row's answer.",
        ),
    ]


def _check(name: str, if_faulty: Status, faults: list[str | None], message: str) -> Check:
    found = [fault for fault in faults if fault]
    return Check(name, if_faulty, " ".join(found)) if found else Check(name, Status.OK, message)


def _find_batch_fault(model: LoadedModel, answer: Answer, tolerance: float) -> str | None:
    signature = answer.signature
    row = {name: array[:1] for name, array in answer.inputs.items()}
    try:
        one = model.run(signature, row)
        many = model.run(
            signature, {name: np.repeat(array, ROWS, axis=0) for name, array in row.items()}
        )
    except ModelError as error:
        return f"Signature '{signature.name}' fails with 1 or {ROWS} rows: {shorten(error)}"
    for name in signature.outputs:
        for rows, outputs in ((1, one), (ROWS, many)):
            shape = outputs[name].shape
            if not shape or shape[0] != rows:
                return (
                    f"Output '{name}' of signature '{signature.name}' has the shape {shape} for "
                    f"{rows} row{'s' * (rows > 1)}; its first dimension must be the batch, or the "
                    "server cannot split it."
                )
        if not arrays_agree(np.repeat(one[name], ROWS, axis=0), many[name], tolerance):
            return (
                f"Output '{name}' of signature '{signature.name}' is not the same for a row alone "
                f"and {ROWS} times over; compute each row by itself."
            )
    return None


def _find_neighbour_fault(model: LoadedModel, answer: Answer, tolerance: float) -> str | None:
    signature = answer.signature
    row = {name: array[:1] for name, array in answer.inputs.items()}
    longer = {name: _lengthen(array) for name, array in row.items()}
    if all(longer[name] is row[name] for name in row):
        return None
    try:
        alone = model.run(signature, row)
        beside = model.run(
            signature, {name: np.concatenate([row[name], longer[name]]) for name in row}
        )
    except ModelError as error:
        return f"Signature '{signature.name}' fails on a longer text: {shorten(error)}"
    for name in signature.outputs:
        if not arrays_agree(alone[name][:1], beside[name][:1], tolerance):
            return (
                f"Output '{name}' of signature '{signature.name}' changes from the shape "
                f"{alone[name].shape[1:]} to {beside[name].shape[1:]}, or in value, when a longer "
                "text shares the batch; pad to a fixed width (to_tensor(shape=[None, width]))."
            )
    return None


def _lengthen(array: np.ndarray) -> np.ndarray:
    """Makes each text of an array five times as long; other arrays are returned as they are."""
    if array.dtype.kind not in "OSU" or not all(_is_text(value) for value in array.flat):
        return array
    values = [_as_bytes(value) for value in array.flat]
    texts = [b" ".join([value] * 5) if value.strip() else b"a longer text" for value in values]
    longer = np.empty(array.size, dtype=object)
    longer[:] = texts
    return longer.reshape(array.shape)


def _is_text(value: bytes | str) -> bool:
    """Whether a string is text, and not a serialised record or an image."""
    try:
        text = _as_bytes(value).decode("utf-8")
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() or character.isspace() for character in text)


def _as_bytes(value: bytes | str) -> bytes:
    return value.encode() if isinstance(value, str) else bytes(value)
