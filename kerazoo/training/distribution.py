"""Which devices train a model together: one name for the engines of TensorFlow and JAX."""

import dataclasses
import functools
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras

from kerazoo.checks import check_one_of
from kerazoo.training.counted import counted
from kerazoo.training.settings import (
    AUTO,
    DATA_PARALLEL,
    MIRRORED,
    MODEL_PARALLEL,
    MULTI_WORKER,
    NO_STRATEGY,
    STRATEGIES,
    TPU,
)
from kerazoo.training.stop_signals import ended_by_signals

_BACKEND_OF = {
    MIRRORED: "tensorflow",
    TPU: "tensorflow",
    MULTI_WORKER: "tensorflow",
    DATA_PARALLEL: "jax",
    MODEL_PARALLEL: "jax",
}
_FIRST_OF = {"tensorflow": MIRRORED, "jax": DATA_PARALLEL}
_WORKER = "worker"
_JAX_PROCESSES = "KERAS_DISTRIBUTION_NUM_PROCESSES"


@dataclasses.dataclass(frozen=True)
class Distribution:
    """Devices that train together.

    Attributes:
        name: str, one of `STRATEGIES` but "auto".
        description: str, what it is, for a line.
        engine: a `tf.distribute.Strategy`, a `keras.distribution.Distribution`, or None.
        process: int, the number of this process among those that train together.
        processes: int, how many there are.
    """

    name: str
    description: str
    engine: Any = None
    process: int = 0
    processes: int = 1

    @property
    def is_chief(self) -> bool:
        """Whether this process writes what comes of the run."""
        return self.process == 0

    @property
    def needs_static_shapes(self) -> bool:
        """Whether every batch must have the same shape."""
        return self.name == TPU

    def prepare(self, task: Any, config: Any) -> None:
        """Make a task compute batches as the devices and the settings of a run want it.

        Args:
            task: a task, not compiled yet.
            config: the settings, of which `accumulate`, `rematerialize`, `batch_size` and
                `bucket_width` are read.

        Raises:
            ValueError: if the devices cannot compute what the settings ask for.
        """
        if self.needs_static_shapes and config.bucket_width is not None:
            raise ValueError(
                "A TPU computes rows of one width; leave `bucket_width` (--bucket-width) out. "
                f"Received: bucket_width={config.bucket_width} with {self.name}"
            )
        task.accumulate(config.accumulate)
        task.backbone.rematerialize = config.rematerialize
        if self.needs_static_shapes:
            task.static_rows, task.preprocessor.pad_to_multiple_of = config.batch_size, None

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Make, load and train models on the devices while the block runs."""
        if self.engine is None:
            yield
            return
        with self.engine.scope():
            yield


def from_name(name: str, say: Callable[[str], None] = lambda line: None) -> Distribution:
    """Return the devices that a name stands for; wait for the other processes if there are any.

    While it waits, Ctrl-C ends the process at once, as nothing is begun; on JAX SIGTERM does too,
    which TensorFlow takes for itself.

    Args:
        name: "auto" takes several hosts if TF_CONFIG or KERAS_DISTRIBUTION_NUM_PROCESSES names
            them, else several GPUs (or TPUs of JAX) if there are, else one device, "none".
            TensorFlow: "mirrored", the devices of this machine; "tpu", those of TPU_NAME, or of
            this machine; "multi_worker", the hosts of TF_CONFIG. JAX: "data_parallel", where each
            device has all weights and a share of the rows; "model_parallel", where each has a
            share of the weights and all rows. PyTorch computes on one device.
        say: is told that other processes are waited for.

    Raises:
        ValueError: if the backend or the machine has no such devices.
    """
    check_one_of("strategy", name, STRATEGIES)
    if name == AUTO:
        name = _offered()
    if name == NO_STRATEGY:
        return Distribution(NO_STRATEGY, "one device")
    backend = keras.config.backend()
    if _BACKEND_OF[name] != backend:
        own = _FIRST_OF.get(backend)
        instead = f"{NO_STRATEGY} or {own}" if own else NO_STRATEGY
        raise ValueError(
            f"The strategy {name} is one of {_BACKEND_OF[name]}; with KERAS_BACKEND={backend} "
            f"choose {instead}, or set KERAS_BACKEND={_BACKEND_OF[name]}. "
            f"Received: strategy={name!r}"
        )
    return _made(name, say)


def _made(name: str, say: Callable[[str], None]) -> Distribution:
    """Return the devices of this backend, when all processes are there."""
    processes = _PROCESSES.get(name, lambda: 1)()
    if processes < 2:
        return _MAKERS[name]()
    say(f"Waiting until all {processes} processes are there.")
    with ended_by_signals():
        return _MAKERS[name]()


def _offered() -> str:
    """Return what this machine offers."""
    backend = keras.config.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        if len(_workers_of_tf_config()) > 1:
            return MULTI_WORKER
        return MIRRORED if len(tf.config.list_physical_devices("GPU")) > 1 else NO_STRATEGY
    if backend == "jax":
        import jax

        several = _jax_processes() > 1
        several = several or (jax.default_backend() != "cpu" and jax.local_device_count() > 1)
        return DATA_PARALLEL if several else NO_STRATEGY
    return NO_STRATEGY


@functools.cache
def _mirrored() -> Distribution:
    """Return all GPUs, or all logical CPUs, of this machine; one strategy for each process."""
    import tensorflow as tf

    gpus, cpus = (tf.config.list_logical_devices(kind) for kind in ("GPU", "CPU"))
    devices = [device.name for device in (gpus or cpus)]
    _check_several(MIRRORED, devices)
    strategy = tf.distribute.MirroredStrategy(devices)
    return Distribution(MIRRORED, f"MirroredStrategy on {len(devices)} devices", strategy)


@functools.cache
def _tpu() -> Distribution:
    """Return the TPU of TPU_NAME, or of this machine."""
    import tensorflow as tf

    name = os.environ.get("TPU_NAME", "local")
    try:
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name)
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        strategy = tf.distribute.TPUStrategy(resolver)
    except Exception as error:  # whatever the driver, the network or the cloud may raise
        reason = " ".join(str(error).split())[:200]
        raise ValueError(
            "There is no TPU that answers. Set TPU_NAME to its name, or leave it away on a TPU "
            f"VM; --dry-run compiles the step without one. Received: TPU_NAME={name!r}: {reason}"
        ) from error
    cores = counted(strategy.num_replicas_in_sync, "core")
    return Distribution(TPU, f"TPUStrategy on {cores}", strategy)


@functools.cache
def _multi_worker() -> Distribution:
    """Return the hosts of TF_CONFIG; each waits for the others."""
    import tensorflow as tf

    workers = _workers_of_tf_config()
    if len(workers) < 2:
        raise _tf_config_error()
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    number = int(strategy.cluster_resolver.task_id)
    words = f"MultiWorkerMirroredStrategy, host {number + 1} of {len(workers)}"
    return Distribution(MULTI_WORKER, words, strategy, number, len(workers))


def _workers_of_tf_config() -> list[str]:
    """Return the hosts that TF_CONFIG names; none if it is not set.

    Raises:
        ValueError: if it cannot be read, or this host is none of them: each would train alone. A
            chief beside the workers is refused too, as the first worker would be a second one.
    """
    try:
        config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        cluster, task = config.get("cluster", {}), config.get("task", {})
        workers = list(cluster.get("worker", []))
        hosts = sum(len(names) for names in cluster.values())
        number, kind = int(task.get("index", 0)), task.get("type", _WORKER)
    except (ValueError, AttributeError, TypeError) as error:
        raise _tf_config_error() from error
    is_one_of_them = 0 <= number < len(workers) and kind == _WORKER
    if hosts > 1 and not (set(cluster) == {_WORKER} and is_one_of_them):
        raise _tf_config_error()
    return workers


def _tf_config_error() -> ValueError:
    return ValueError(
        "Several hosts find each other by TF_CONFIG, which each gets, with all hosts under "
        "'worker', of which the first writes the results: {'cluster': {'worker': ['host1:port', "
        "'host2:port']}, 'task': {'type': 'worker', 'index': 0}}. "
        f"Received: TF_CONFIG={os.environ.get('TF_CONFIG')!r}"
    )


@functools.cache
def _data_parallel() -> Distribution:
    """Return all devices of JAX, of all processes."""
    process, processes = _jax_process()
    devices = keras.distribution.list_devices()
    _check_several(DATA_PARALLEL, devices)
    # Every process reads all rows and takes its own; see `kerazoo.tasks.rows_on_jax`.
    engine = keras.distribution.DataParallel(devices=devices, auto_shard_dataset=False)
    words = f"DataParallel on {len(devices)} devices{_of_processes(processes)}"
    return Distribution(DATA_PARALLEL, words, engine, process, processes)


@functools.cache
def _model_parallel() -> Distribution:
    """Return all devices of JAX, of this process."""
    from kerazoo.training.model_layout import ModelLayout

    processes = _jax_processes()  # before any is waited for
    if processes > 1:
        raise ValueError(
            "No process would have the whole model to write. Divide it among the devices of one "
            f"machine, or choose {DATA_PARALLEL}. Received: strategy={MODEL_PARALLEL!r} with "
            f"{processes} processes"
        )
    devices = keras.distribution.list_devices()
    _check_several(MODEL_PARALLEL, devices)
    words = f"ModelParallel on {len(devices)} devices"
    return Distribution(MODEL_PARALLEL, words, ModelLayout.of(devices))


def _jax_processes() -> int:
    value = os.environ.get(_JAX_PROCESSES) or "1"
    if not value.isdecimal():
        raise ValueError(
            f"{_JAX_PROCESSES} is the number of processes that train together. "
            f"Received: {_JAX_PROCESSES}={value!r}"
        )
    return int(value)


def _jax_process() -> tuple[int, int]:
    """Return the number of this process and how many there are; connect them if there are more."""
    import jax

    if _jax_processes() > 1 and not jax.distributed.is_initialized():
        try:
            keras.distribution.initialize()
        except (ValueError, RuntimeError) as error:
            names = ("JOB_ADDRESSES", "NUM_PROCESSES", "PROCESS_ID")
            values = {name: os.environ.get(f"KERAS_DISTRIBUTION_{name}") for name in names}
            reason = " ".join(str(error).split())[:200]
            raise ValueError(
                "Processes of JAX find each other by KERAS_DISTRIBUTION_JOB_ADDRESSES (host:port "
                "of the first one), …_NUM_PROCESSES and …_PROCESS_ID (from 0). Received: "
                f"{', '.join(f'{name}={value!r}' for name, value in values.items())}: {reason}"
            ) from error
    return jax.process_index(), jax.process_count()


def _of_processes(count: int) -> str:
    return f" of {count} processes" if count > 1 else ""


def _check_several(name: str, devices: list[str]) -> None:
    if len(devices) < 2:
        raise ValueError(
            f"The strategy {name} needs several devices, and this machine has one; choose "
            f"{NO_STRATEGY}. Received: strategy={name!r} with {', '.join(devices)}"
        )


_PROCESSES = {
    MULTI_WORKER: lambda: len(_workers_of_tf_config()),
    DATA_PARALLEL: _jax_processes,
}
_MAKERS = {
    MIRRORED: _mirrored,
    TPU: _tpu,
    MULTI_WORKER: _multi_worker,
    DATA_PARALLEL: _data_parallel,
    MODEL_PARALLEL: _model_parallel,
}
