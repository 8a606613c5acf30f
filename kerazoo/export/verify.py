"""Would stock TensorFlow Serving serve this SavedModel, and if not, why not?"""

import os
from pathlib import Path
from typing import Any

from kerazoo.export.answer_checks import answer_tolerance, check_same_answers, check_values
from kerazoo.export.batch_checks import check_batches
from kerazoo.export.graph_nodes import GraphNodes, graph_nodes
from kerazoo.export.prediction_log import PredictionLog
from kerazoo.export.python_session import PythonSession
from kerazoo.export.replay import Answer, LoadedModel, check_replay, shorten
from kerazoo.export.server_session import (
    ModelError,
    ServerSession,
    SessionUnavailableError,
    text_op_libraries,
)
from kerazoo.export.serving_ops import check_ops, needed_server, uses_text_ops
from kerazoo.export.signature_checks import check_signatures
from kerazoo.export.signatures import Signature, read_meta_graph, signature_table
from kerazoo.export.verification_report import Check, Status, VerificationReport
from kerazoo.export.version_folder import SAVED_MODEL_FILE, find_version_folder, is_version_name
from kerazoo.export.warmup import check_warmup
from kerazoo.export.weights import check_weights

LARGEST_FILE = 2**31 - 1  # the limit of one protocol buffer message
_PYTHON_FAULT = "Python cannot load the model"


def verify_saved_model(path: str | Path, timeout: float = 120) -> VerificationReport:
    """Says whether stock TensorFlow Serving would serve a SavedModel.

    The files are read first (layout, signatures, ops, weights, warm-up file); then the model is
    loaded by TensorFlow's C++ loader in a process without Python kernels and without XLA, the
    warm-up requests are replayed there, and the answers compared with those of Python.

    Args:
        path: A version folder, or a base folder, of which the highest version is taken.
        timeout: Seconds that the C++ loader may take to load, and for each request.

    Returns:
        The report; a fault of the model is a failed check in it and never an exception.

    Raises:
        FileNotFoundError: If there is nothing at the path.
        ValueError: If the path holds no SavedModel.
    """
    version_dir = find_version_folder(path)
    checks = [_check_layout(version_dir), _check_file_size(version_dir)]
    if checks[-1].status is Status.FAILED:
        return VerificationReport(version_dir, checks)
    try:
        meta_graph = read_meta_graph(version_dir)
    except ValueError as error:
        checks.append(Check("readable", Status.FAILED, str(error)))
        return VerificationReport(version_dir, checks)
    checks.append(Check("readable", Status.OK, f"{SAVED_MODEL_FILE} holds a graph for serving."))
    return _verify_graph(version_dir, meta_graph, checks, timeout)


def _verify_graph(
    version_dir: Path,
    meta_graph: Any,
    checks: list[Check],
    timeout: float,
) -> VerificationReport:
    signatures, nodes = signature_table(meta_graph), graph_nodes(meta_graph)
    warmup_checks, logs = check_warmup(version_dir, signatures)
    checks = [
        *checks,
        *check_signatures(signatures),
        *check_ops(nodes),
        check_weights(version_dir),
        *warmup_checks,
        *_check_running(version_dir, signatures, nodes, logs, timeout),
    ]
    return VerificationReport(version_dir, checks, signatures, needed_server(nodes))


def _check_layout(version_dir: Path) -> Check:
    folder = Path(os.path.abspath(version_dir))  # as it is named, not where a link leads
    if is_version_name(folder.name):
        return Check("layout", Status.OK, f"The folder is version {int(folder.name)}.")
    message = (
        f"A server only loads folders named by a whole number, and this is '{folder.name}'; "
        f"rename it, for example to {folder.with_name('1')}."
    )
    return Check("layout", Status.FAILED, message)


def _check_file_size(version_dir: Path) -> Check:
    size = (version_dir / SAVED_MODEL_FILE).stat().st_size
    if size <= LARGEST_FILE:
        return Check("file size", Status.OK, f"{SAVED_MODEL_FILE} has {size:,} bytes.")
    message = (
        f"{SAVED_MODEL_FILE} has {size:,} bytes, and over 2 GB it cannot be read; keep weights in "
        "variables and not in the graph as constants."
    )
    return Check("file size", Status.FAILED, message)


def _check_running(
    version_dir: Path,
    signatures: dict[str, Signature],
    nodes: GraphNodes,
    logs: list[PredictionLog],
    timeout: float,
) -> list[Check]:
    """Loads the model and asks it; where the C++ loader is not to be had, in Python alone."""
    tolerance = answer_tolerance(nodes)
    if uses_text_ops(nodes) and not text_op_libraries():
        message = "The graph needs TensorFlow Text; install tensorflow-text and verify again."
        return [Check("C++ load", Status.NOT_RUN, message)]
    try:
        with ServerSession(version_dir, timeout) as session:
            message = f"TensorFlow {session.tensorflow_version}'s C++ loader loads it, without XLA."
            loaded = Check("C++ load", Status.OK, message)
            checks, answers = _ask(session, signatures, logs, tolerance)
    except SessionUnavailableError as error:
        return [
            Check("C++ load", Status.NOT_RUN, shorten(error)),
            *_check_in_python(version_dir, signatures, logs, tolerance),
        ]
    except ModelError as error:
        return [Check("C++ load", Status.FAILED, f"A server could not load it: {shorten(error)}")]
    return [loaded, *checks, _compare_with_python(version_dir, answers, tolerance)]


def _ask(
    model: LoadedModel,
    signatures: dict[str, Signature],
    logs: list[PredictionLog],
    tolerance: float,
) -> tuple[list[Check], list[Answer]]:
    replay, answers = check_replay(model, signatures, logs)
    checks = [replay, check_values(answers), *check_batches(model, answers, tolerance)]
    return checks, answers


def _check_in_python(
    version_dir: Path,
    signatures: dict[str, Signature],
    logs: list[PredictionLog],
    tolerance: float,
) -> list[Check]:
    try:
        return _ask(PythonSession(version_dir), signatures, logs, tolerance)[0]
    except ModelError as error:
        return [Check("replay", Status.FAILED, f"{_PYTHON_FAULT}: {shorten(error)}")]


def _compare_with_python(version_dir: Path, answers: list[Answer], tolerance: float) -> Check:
    """A model that fails in C++ might take this process down, so only answers are compared."""
    if not answers:
        return Check("same answers", Status.NOT_RUN, "There are no answers to compare.")
    try:
        return check_same_answers(answers, PythonSession(version_dir), tolerance)
    except ModelError as error:
        return Check("same answers", Status.FAILED, f"{_PYTHON_FAULT}: {shorten(error)}")
