"""The warm-up file: requests that a model server replays before it calls a version available.

Without one the first real request pays for kernels and graph rewriting, and a model that loads but
cannot run is reported as available. With one, such a model is refused at the load.
"""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf

from kerazoo.export.prediction_log import (
    PredictionLog,
    decode_prediction_log,
    encode_prediction_log,
)
from kerazoo.export.signatures import Signature, read_signatures
from kerazoo.export.verification_report import Check, Status

WARMUP_FILE = Path("assets.extra") / "tf_serving_warmup_requests"
MOST_RECORDS = 1000  # a server refuses a version with more


def write_warmup(
    version_dir: str | Path,
    requests: Sequence[tuple[str, dict[str, np.ndarray]]],
    model_name: str,
) -> Path:
    """Writes the warm-up file of a version.

    Args:
        version_dir: The version folder; it may still have its temporary name.
        requests: Pairs of a signature's name and an array for each of its inputs, with the types
            of the signature; at least one for each signature makes the file useful.
        model_name: The name under which the model will be served; a server does not check it.

    Returns:
        The file that was written, in place of an earlier one.

    Raises:
        FileNotFoundError: If there is no SavedModel in the folder.
        ValueError: If a request does not fit the signatures, or there are none or too many.
    """
    signatures = read_signatures(version_dir)
    if not 1 <= len(requests) <= MOST_RECORDS:
        raise ValueError(
            f"A warm-up file holds 1 to {MOST_RECORDS:,} requests; give one or two for each "
            f"signature. Received: len(requests)={len(requests)}"
        )
    logs = [PredictionLog(model_name, name, dict(inputs)) for name, inputs in requests]
    for position, log in enumerate(logs):
        fault = find_request_fault(log, signatures)
        if fault:
            raise ValueError(
                f"The warm-up request does not fit. {fault} Received: request {position}"
            )
    file = Path(version_dir) / WARMUP_FILE
    file.parent.mkdir(exist_ok=True)
    temporary = file.with_name(f".{file.name}.part")
    with tf.io.TFRecordWriter(str(temporary)) as writer:
        for log in logs:
            writer.write(encode_prediction_log(log))
    os.replace(temporary, file)
    return file


def read_warmup(version_dir: str | Path) -> list[PredictionLog]:
    """Reads the warm-up file of a version.

    Args:
        version_dir: The version folder.

    Returns:
        The requests in their order.

    Raises:
        FileNotFoundError: If there is no such file.
        ValueError: If the file or a record in it is damaged.
    """
    file = Path(version_dir) / WARMUP_FILE
    if not file.is_file():
        raise FileNotFoundError(
            f"The version has no warm-up file {WARMUP_FILE}. Received: version_dir={version_dir}"
        )
    try:
        records = list(tf.data.TFRecordDataset(str(file)).as_numpy_iterator())
    except tf.errors.DataLossError as error:
        raise ValueError(
            f"The warm-up file is damaged; write it again. Received: file={file}"
        ) from error
    logs = []
    for position, record in enumerate(records):
        try:
            logs.append(decode_prediction_log(record))
        except ValueError as error:
            raise ValueError(f"{error} ({file}, record {position})") from error
    return logs


def find_request_fault(log: PredictionLog, signatures: dict[str, Signature]) -> str | None:
    """Says why a server could not take a request, or returns None where it could."""
    signature = signatures.get(log.signature_name)
    if signature is None:
        names = ", ".join(signatures)
        return f"The model has no signature '{log.signature_name}', only {names}."
    if set(log.inputs) != set(signature.inputs):
        return (
            f"Signature '{signature.name}' takes the inputs {sorted(signature.inputs)}, and the "
            f"request has {sorted(log.inputs)}."
        )
    for name, tensor in signature.inputs.items():
        dtype = tf.dtypes.as_dtype(np.asarray(log.inputs[name]).dtype).name
        if dtype != tensor.dtype:
            return (
                f"Input '{name}' of signature '{signature.name}' has the type {tensor.dtype}, and "
                f"the request's is {dtype}."
            )
    return None


def check_warmup(
    version_dir: Path, signatures: dict[str, Signature]
) -> tuple[list[Check], list[PredictionLog]]:
    """Checks that the warm-up file is there, can be read and calls every signature.

    Args:
        version_dir: The version folder.
        signatures: The signatures by name.

    Returns:
        The checks, and the requests that fit the signatures.
    """
    try:
        logs = read_warmup(version_dir)
    except FileNotFoundError:
        message = (
            f"There is no {WARMUP_FILE}: a broken model would be called available. Write one with "
            "kerazoo.export.warmup.write_warmup."
        )
        return [Check("warm-up file", Status.FAILED, message)], []
    except ValueError as error:
        return [Check("warm-up file", Status.FAILED, f"A server would not load it: {error}")], []
    faults = {
        position: fault
        for position, log in enumerate(logs)
        if (fault := find_request_fault(log, signatures))
    }
    fitting = [log for position, log in enumerate(logs) if position not in faults]
    if len(logs) > MOST_RECORDS:
        message = f"It holds {len(logs):,} requests and a server takes {MOST_RECORDS:,}; drop some."
        return [Check("warm-up file", Status.FAILED, message)], fitting[:MOST_RECORDS]
    if faults:
        position, fault = next(iter(faults.items()))
        message = f"Request {position} would stop the load. {fault} Write the file again."
        return [Check("warm-up file", Status.FAILED, message)], fitting
    found = Check(
        "warm-up file",
        Status.OK,
        f"It holds {_count(len(logs), 'request')} that fit the signatures.",
    )
    return [found, _check_coverage(fitting, signatures)], fitting


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _check_coverage(logs: list[PredictionLog], signatures: dict[str, Signature]) -> Check:
    missing = sorted(set(signatures) - {log.signature_name for log in logs})
    if missing:
        message = (
            f"No request calls {', '.join(missing)}, so nothing shows that it runs; add one for "
            "each with kerazoo.export.warmup.write_warmup."
        )
        return Check("warm-up coverage", Status.FAILED, message)
    return Check(
        "warm-up coverage", Status.OK, f"{_count(len(signatures), 'signature')}, each called."
    )
