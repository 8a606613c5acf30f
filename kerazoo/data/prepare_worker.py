"""Shards written by several processes. Imports nothing heavy, so that a process starts quietly."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait as wait_for_end
from typing import Any

from kerazoo.data.document_blocks import ShardSource
from kerazoo.data.prepare_settings import PrepareSettings

_STANDARD_ERROR = 2
# So many shards wait in memory while all processes are busy.
_WAITING = 2
_writer: Any = None
_failure: Exception | None = None


def write_in_processes(
    sources: Iterable[ShardSource], folder: str, settings: PrepareSettings, workers: int
) -> Iterator[Any]:
    """Yield shards as they are finished, in any order.

    Args:
        sources: what to write; read while it is worked on, so it may be of any size.
        folder: an `UnfinishedFolder`'s path.
        settings: see `PrepareSettings`.
        workers: int, the number of processes, each with one thread.

    Raises:
        ChildProcessError: if a process was killed.
    """
    # Spawned, not forked: TensorFlow's threads do not survive a fork.
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _start, (folder, settings))
    pending: set[Future[Any]] = set()
    try:
        for source in sources:
            with _without_the_callers_script():
                pending.add(pool.submit(_write, source))
            if len(pending) >= workers + _WAITING:
                done, pending = wait(pending, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "A worker process ended unexpectedly, perhaps for lack of memory. Finished shards are "
            "kept: run the same command again, with fewer workers or documents per block. "
            f"Received: workers={workers}"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


@contextlib.contextmanager
def _without_the_callers_script() -> Iterator[None]:
    """Hide the script that runs: a new process would run it again if it has no main guard."""
    main = vars(sys.modules["__main__"])
    hidden: dict[str, Any] = {
        name: main.pop(name) for name in ("__file__", "__spec__") if name in main
    }
    main["__spec__"] = None
    try:
        yield
    finally:
        main.update(hidden)


def _start(folder: str, settings: PrepareSettings) -> None:
    """Prepare a process: one thread, no GPU, quiet, and an end when its parent ends."""
    global _writer, _failure
    threading.Thread(target=_end_with_parent, daemon=True).start()
    # Ctrl-C reaches all processes of a terminal; the parent decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with _muted():
            import tensorflow as tf

            tf.config.threading.set_intra_op_parallelism_threads(1)
            tf.config.threading.set_inter_op_parallelism_threads(1)
            tf.config.set_visible_devices([], "GPU")
            from kerazoo.data.shard_writer import ShardWriter

        _writer = ShardWriter(folder, settings)
    except Exception as error:
        # Raised by the first task: an error here would end the process without a word of why.
        _failure = error


def _write(source: ShardSource) -> Any:
    if _failure is not None:
        raise _failure
    return _writer.write(source)


def _end_with_parent() -> None:
    """A killed parent cannot end its processes, which would wait for work for ever."""
    parent = parent_process()
    if parent is not None:
        wait_for_end([parent.sentinel])
        os._exit(1)


@contextlib.contextmanager
def _muted() -> Iterator[None]:
    """Hide what TensorFlow's C++ libraries write while they start."""
    original, nowhere = os.dup(_STANDARD_ERROR), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, _STANDARD_ERROR)
    try:
        yield
    finally:
        os.dup2(original, _STANDARD_ERROR)
        os.close(original)
        os.close(nowhere)
