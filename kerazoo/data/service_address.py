"""Where a server of tf.data service is, and whether it can give batches in order."""

import re
import socket

import grpc
import tensorflow as tf

PROTOCOL = "grpc"
_ADDRESS = re.compile(r"(?:grpc://)?([^\s/:]+|\[[0-9a-fA-F:]+\]):(\d{1,5})")
_GET_WORKERS = "/tensorflow.data.DispatcherService/GetWorkers"
_SECONDS = 5.0
"""How long a server may take to say which workers it has."""


def host_and_port(address: str) -> str:
    """Return "host:5000" for "grpc://host:5000", or for itself.

    Raises:
        ValueError: for anything else.
    """
    found = _ADDRESS.fullmatch(address.strip())
    if found is None or not 0 < int(found[2]) < 2**16:
        raise ValueError(
            "A data service has an address like grpc://host:5000, which `kerazoo data-service` "
            f"says when it starts. Received: data_service={address!r}"
        )
    return f"{found[1]}:{int(found[2])}"


def check_server(address: str, seconds: float = _SECONDS) -> None:
    """Say what is wrong with a server, before something waits for its batches for ever.

    Args:
        address: "host:5000".
        seconds: float, how long to wait for an answer.

    Raises:
        ConnectionError: if it does not answer, or its worker cannot be reached.
        ValueError: if it is none, or has not one worker.
    """
    workers = workers_of(address, seconds)
    if len(workers) != 1:
        has = "no worker" if not workers else f"{len(workers)} workers, {', '.join(workers)}"
        raise ValueError(
            "The order of batches is decided by the seed only where each dispatcher has one "
            "worker, as each `kerazoo data-service` has; for more machines start one on each, and "
            f"name all of them. Received: grpc://{address} with {has}"
        )
    host, port = workers[0].rsplit(":", 1)
    try:
        socket.create_connection((host.strip("[]"), int(port)), seconds).close()
    except OSError as error:
        raise ConnectionError(
            f"The data service at {address} gives its batches at {workers[0]}, which cannot be "
            "reached from here. Start it with a --host under which this machine finds it, and let "
            f"both ports through. Received: {error.strerror or error}"
        ) from error


def workers_of(address: str, seconds: float = _SECONDS) -> list[str]:
    """Return the addresses of the workers of a dispatcher.

    Args:
        address: "host:5000".
        seconds: float, how long to wait for an answer.

    Raises:
        ConnectionError: if it does not answer.
        ValueError: if something else than a dispatcher answers.
    """
    with grpc.insecure_channel(address) as channel:
        ask = channel.unary_unary(_GET_WORKERS, _as_it_is, _as_it_is)
        try:
            answer = ask(b"", timeout=seconds)
        except grpc.RpcError as error:
            raise _unanswered(address, error) from error
    return [_first_field(worker)[0].decode() for worker in _first_field(answer)]


def _unanswered(address: str, error: grpc.RpcError) -> Exception:
    if error.code() in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
        port = address.rsplit(":", 1)[1]
        return ConnectionError(
            f"No data service answers at grpc://{address}. Start it there with `kerazoo "
            f"data-service --port {port}`, or leave --data-service out. "
            f"Received: {error.code().name}"
        )
    return ValueError(
        f"What answers at grpc://{address} is no dispatcher of tf.data service. "
        f"Received: {error.code().name}"
    )


def _as_it_is(message: bytes) -> bytes:
    return message


def _first_field(message: bytes) -> list[bytes]:
    """Return the values of field 1: TensorFlow's wheel has no classes for these messages."""
    return list(tf.train.BytesList.FromString(message).value)
