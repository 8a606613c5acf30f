"""The protocol buffer of one warm-up request, written and read without tensorflow-serving-api.

    PredictionLog { predict_log = 6: PredictLog { request = 1: PredictRequest {
        model_spec = 1: ModelSpec { name = 1, signature_name = 3 },
        inputs = 2: map entry { key = 1, value = 2: TensorProto } } } }

Every field used here is a string or a message, so the wire format is a run of (tag, length, bytes).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tensorflow as tf
from google.protobuf.message import DecodeError
from tensorflow.core.framework import tensor_pb2

DEFAULT_SIGNATURE = "serving_default"
PREDICT_LOG = 6
# The other kinds of log that the field of a PredictionLog may hold.
_OTHER_LOGS = {
    2: "classify_log",
    3: "regress_log",
    4: "multi_inference_log",
    5: "session_run_log",
    7: "predict_streamed_log",
}
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class PredictionLog:
    """One recorded request.

    Attributes:
        model_name: The model it was recorded for; a server does not look at it.
        signature_name: The signature it calls.
        inputs: An array for each input; strings as an object array of bytes.
    """

    model_name: str
    signature_name: str
    inputs: dict[str, np.ndarray]


def encode_prediction_log(log: PredictionLog) -> bytes:
    """Writes a request as the bytes of a ``PredictionLog``.

    Args:
        log: The request.

    Returns:
        The same bytes that ``tensorflow_serving.apis`` makes with deterministic serialisation.
    """
    model_spec = _field(1, log.model_name.encode()) + _field(3, log.signature_name.encode())
    request = _field(1, model_spec)
    for name, array in sorted(log.inputs.items()):
        tensor = tf.make_tensor_proto(array).SerializeToString(deterministic=True)
        request += _field(2, _field(1, name.encode()) + _field(2, tensor))
    return _field(PREDICT_LOG, _field(1, request))


def decode_prediction_log(data: bytes) -> PredictionLog:
    """Reads a request from the bytes of a ``PredictionLog``.

    Args:
        data: The bytes of one record.

    Returns:
        The request; an empty signature name is read as ``serving_default``, as a server does.

    Raises:
        ValueError: If the bytes are damaged or hold another kind of log than ``predict_log``.
    """
    fields = dict(_fields(data))
    if PREDICT_LOG not in fields:
        kinds = [name for number, name in _OTHER_LOGS.items() if number in fields]
        raise ValueError(
            "A warm-up record holds no predict_log; write it with "
            f"kerazoo.export.warmup.write_warmup. Received: kind={kinds[0] if kinds else None}"
        )
    model_name, signature_name, inputs = "", "", {}
    for number, value in _fields(dict(_fields(fields[PREDICT_LOG])).get(1, b"")):
        if number == 1:
            model_spec = dict(_fields(value))
            model_name = model_spec.get(1, b"").decode()
            signature_name = model_spec.get(3, b"").decode()
        elif number == 2:
            entry = dict(_fields(value))
            inputs[entry.get(1, b"").decode()] = _read_tensor(entry.get(2, b""))
    return PredictionLog(model_name, signature_name or DEFAULT_SIGNATURE, inputs)


def _read_tensor(data: bytes) -> np.ndarray:
    tensor = tensor_pb2.TensorProto()
    try:
        tensor.ParseFromString(data)
    except DecodeError as error:
        raise ValueError("A warm-up record holds a damaged tensor; write it again.") from error
    return np.asarray(tf.make_ndarray(tensor))


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    """Seven bits a byte, the lowest first; the top bit says that more follow."""
    data = bytearray()
    while value > 0x7F:
        data.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*data, value])


def _fields(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the number and the bytes of each string or message field, and skips numbers."""
    position = 0
    while position < len(data):
        tag, position = _read_varint(data, position)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            _, position = _read_varint(data, position)
            continue
        if kind == _BYTES:
            length, position = _read_varint(data, position)
        elif kind in (_FIXED32, _FIXED64):
            length = 4 if kind == _FIXED32 else 8
        else:
            raise ValueError(f"A warm-up record is damaged; write it again. Received: tag={tag}")
        if position + length > len(data):
            raise ValueError("A warm-up record is cut short; write it again.")
        if kind == _BYTES:
            yield number, data[position : position + length]
        position += length


def _read_varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise ValueError("A warm-up record is cut short; write it again.")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise ValueError("A warm-up record is damaged; write it again.")
