"""Batches that other processes prepare, in the order in which this one would."""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import tensorflow as tf

from kerazoo.data.service_address import PROTOCOL, check_server, host_and_port

_LOOK_SECONDS = 5.0
"""After so long without a batch it is looked whether the servers are there."""

_SILENT_LOOKS = 3
"""A server that does not answer so many times in turn is lost."""

_AHEAD = 2
"""Batches that are kept until they are asked for."""


class DataService:
    """Servers of tf.data service that prepare the batches of a run in turns.

    Batch `n` is the work of server `n` modulo their number. Each has one worker, which gives what
    it prepares in order, so taking turns gives all batches in order; their numbers are compared.

    Args:
        addresses: "grpc://host:5000", one of each server.

    Raises:
        ConnectionError: if one does not answer.
        ValueError: if an address is none, or stands there twice, or what is there is no dispatcher
            with one worker.

    Attributes:
        failure: Exception, what ended the last batches; None if nothing did.
    """

    def __init__(self, addresses: Sequence[str]) -> None:
        """Look whether all are there."""
        self._servers = [host_and_port(address) for address in addresses]
        if len(set(self._servers)) < len(self._servers):
            raise ValueError(
                "A server that stands there twice prepares no more than once; name each once. "
                f"Received: data_service={list(addresses)!r}"
            )
        self.failure: Exception | None = None
        self.check()

    @classmethod
    def of(cls, addresses: Sequence[str]) -> Self | None:
        """Return the service; None if there is no address."""
        return cls(addresses) if addresses else None

    def check(self) -> None:
        """Look whether all servers are there; see the class for what is raised."""
        for server in self._servers:
            check_server(server)

    def batches(
        self, inputs: tf.data.Dataset, prepare: Callable[..., Any], first: int = 0
    ) -> tf.data.Dataset:
        """Return endless prepared batches, in the order of the inputs.

        Every server goes through all inputs, and prepares its own.

        Args:
            inputs: what each batch is prepared of, a tuple; endless, and without Python.
            prepare: makes a batch of such a tuple, in TensorFlow.
            first: int, the number of the first batch.
        """
        self.check()
        numbered = tf.data.Dataset.zip(tf.data.Dataset.counter(first), inputs)
        count = len(self._servers)
        parts = []
        for server, address in enumerate(self._servers):
            own = numbered.shard(count, server).map(
                lambda number, given: (number, prepare(*given)), tf.data.AUTOTUNE
            )
            policy = tf.data.experimental.service.ShardingPolicy.OFF
            served = tf.data.experimental.service.distribute(policy, f"{PROTOCOL}://{address}")
            parts.append(own.prefetch(tf.data.AUTOTUNE).apply(served))
        turns = tf.data.Dataset.counter().map(lambda turn: turn % count)
        whole = tf.data.Dataset.choose_from_datasets(parts, turns)
        return tf.data.Dataset.from_generator(
            lambda: self._read(whole, first), output_signature=whole.element_spec[1]
        )

    @contextmanager
    def failures_told(self) -> Iterator[None]:
        """Raise what is wrong with the servers in place of what TensorFlow makes of it."""
        self.failure = None
        try:
            yield
        except Exception as error:
            if self.failure is not None:
                raise self.failure from error
            raise

    def _read(self, numbered: tf.data.Dataset, first: int) -> Iterator[Any]:
        """Yield batches while they come in order and the servers are there."""
        found: queue.Queue[Any] = queue.Queue(_AHEAD)
        is_over = threading.Event()
        # A thread, as waiting for a server that is lost lasts an hour.
        threading.Thread(target=_take, args=(numbered, found, is_over), daemon=True).start()
        due = first
        try:
            while True:
                number, batch = self._next(found, due)
                if number != due:
                    raise RuntimeError(
                        f"The data service gave batch {number} where batch {due} was due, as a "
                        "worker was added or started anew. Let one worker run as long as the run, "
                        "and go on with --resume."
                    )
                yield batch
                due += 1
        except Exception as error:
            self.failure = error
            raise
        finally:
            is_over.set()

    def _next(self, found: "queue.Queue[Any]", due: int) -> Any:
        """Return the next number and batch.

        Raises:
            ConnectionError: if servers do not answer.
            RuntimeError: if a server failed.
        """
        silent = 0
        while True:
            try:
                taken = found.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                silent = self._silent_looks(silent, due)
                continue
            if isinstance(taken, Exception):
                raise RuntimeError(
                    f"The data service could not prepare batch {due}, or one after it, as it works "
                    "ahead. It has to run as long as the run, with the same release of kerazoo and "
                    "TensorFlow, and to find the shards under the path that they have here. "
                    f"Received: {_short(taken)}"
                ) from taken
            return taken

    def _silent_looks(self, before: int, due: int) -> int:
        """Return how many times in turn servers did not answer, this time included."""
        try:
            self.check()
        except (OSError, ValueError) as error:
            if before + 1 < _SILENT_LOOKS:
                return before + 1
            raise ConnectionError(
                f"Batch {due} does not come, as a server of the data service is lost. Start it "
                f"again, and go on with --resume. {error}"
            ) from error
        return 0


def _take(numbered: tf.data.Dataset, found: "queue.Queue[Any]", is_over: threading.Event) -> None:
    """Put batches, or what fails, into a queue until it is over."""
    try:
        for number, batch in numbered:
            if not _put((int(number), batch), found, is_over):
                return
    except Exception as error:  # whatever the servers may send
        _put(error, found, is_over)


def _put(value: Any, found: "queue.Queue[Any]", is_over: threading.Event) -> bool:
    """Wait for room in a queue; return whether somebody still reads it."""
    while not is_over.is_set():
        try:
            found.put(value, timeout=0.2)
            return True
        except queue.Full:
            pass
    return False


def _short(error: Exception) -> str:
    """Return the message of an operation without where it stands in a graph."""
    message = error.message if isinstance(error, tf.errors.OpError) else str(error)
    return " ".join(message.split("[[")[0].split("}} ")[-1].split())[:400]
