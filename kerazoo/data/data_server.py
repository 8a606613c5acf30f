"""A server of tf.data service: a dispatcher with its one worker."""

import socket
from types import TracebackType
from typing import Any, Self

import tensorflow as tf

from kerazoo.data.service_address import PROTOCOL


class DataServer:
    """Prepares batches for those who ask, while the block runs.

    A dispatcher hands each dataset to all its workers, and batches of several come in the order in
    which they are ready. So each has one, and `kerazoo.data.data_service` takes batches in turns.

    Whoever reaches the ports can have graphs computed, which read files.

    Args:
        port: int, of the dispatcher; the worker has the next one. 0 takes two free ones.
        host: the name under which others reach this machine.

    Raises:
        OSError: when the block begins, if a port is taken or may not be.

    Attributes:
        address: "grpc://host:5000".
    """

    address: str

    def __init__(self, port: int = 0, host: str = "localhost") -> None:
        """Start nothing yet."""
        self._port, self._host = port, host
        self._servers: list[Any] = []

    def __enter__(self) -> Self:
        """Start both."""
        for port in (self._port, self._port + 1) if self._port else ():
            _check_is_free(port)
        service = tf.data.experimental.service
        config = service.DispatcherConfig(port=self._port, protocol=PROTOCOL)
        dispatcher = self._started(service.DispatchServer, config)
        bound = dispatcher.target.rsplit(":", 1)[1]
        self.address = f"{PROTOCOL}://{self._host}:{bound}"
        config = service.WorkerConfig(
            dispatcher_address=f"localhost:{bound}",
            worker_address=f"{self._host}:%port%",
            port=self._port + 1 if self._port else 0,
            protocol=PROTOCOL,
        )
        self._started(service.WorkerServer, config)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop both."""
        while self._servers:
            self._servers.pop().stop()

    def _started(self, make: Any, config: Any) -> Any:
        try:
            server = make(config)
        except Exception as error:
            self.__exit__(None, None, None)
            raise OSError(f"The data service cannot start. Received: {error}") from error
        self._servers.append(server)
        return server


def _check_is_free(port: int) -> None:
    """Raise OSError if a port cannot be had; gRPC would share it with another server."""
    try:
        with socket.socket() as mine:
            # Connections of a server that has ended may be left, which are in nobody's way.
            mine.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            mine.bind(("", port))
    except OSError as error:
        raise OSError(
            f"Port {port} cannot be opened. A data service takes two, --port and the next one; "
            f"choose others. Received: {error.strerror}"
        ) from error
