import signal
import subprocess
import time

import keras
import pytest
from two_processes import free_ports, started

from kerazoo.training import distribution
from kerazoo.training.distribution import from_name

BACKEND = keras.config.backend()
TWO_HOSTS = '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'
# TensorFlow takes SIGTERM for itself while it waits.
ENDING = [signal.SIGINT, signal.SIGTERM] if BACKEND == "jax" else [signal.SIGINT]
WAITING = """
import functools
import signal

from kerazoo.training.distribution import from_name

signal.signal(signal.SIGTERM, lambda *_: print("a handler of Python"))
from_name("auto", functools.partial(print, flush=True))
"""


def test_none_is_one_device():
    devices = from_name("none")
    assert (devices.name, devices.engine, devices.is_chief) == ("none", None, True)
    with devices.scope():
        assert keras.distribution.distribution() is None


def test_auto_takes_one_device_where_there_are_no_accelerators(monkeypatch):
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert from_name("auto").name == "none"


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="`strategy` must be one of 'auto', 'none'.*'sharded'"):
        from_name("sharded")


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        ("mirrored", "tensorflow"),
        ("tpu", "tensorflow"),
        ("multi_worker", "tensorflow"),
        ("data_parallel", "jax"),
        ("model_parallel", "jax"),
    ],
)
def test_a_strategy_of_another_backend_is_refused(name, backend):
    if backend == BACKEND:
        pytest.skip("It is of this backend.")
    own = {"tensorflow": " or mirrored", "jax": " or data_parallel"}.get(BACKEND, "")
    with pytest.raises(ValueError, match=f"{name} is one of {backend}; .*choose none{own}, or set"):
        from_name(name)


@pytest.mark.tensorflow
def test_mirrored_takes_all_logical_devices_once(mirrored_strategy):
    import tensorflow as tf

    devices = from_name("mirrored")
    assert devices.description == "MirroredStrategy on 2 devices"
    with devices.scope():
        assert tf.distribute.get_strategy() is mirrored_strategy
    assert from_name("mirrored") is devices


@pytest.mark.tensorflow
def test_mirrored_needs_several_devices(monkeypatch):
    import tensorflow as tf

    cpu = tf.config.list_logical_devices("CPU")[:1]
    monkeypatch.setattr(
        tf.config, "list_logical_devices", lambda kind: cpu if kind == "CPU" else []
    )
    with pytest.raises(ValueError, match="this machine has one; choose none. Received"):
        distribution._mirrored.__wrapped__()


@pytest.mark.tensorflow
def test_several_hosts_need_tf_config(monkeypatch):
    for config in ("", "{", "[]", '{"cluster": {"worker": ["localhost:1"]}}'):
        monkeypatch.setenv("TF_CONFIG", config)
        with pytest.raises(ValueError, match="find each other by TF_CONFIG"):
            from_name("multi_worker")


@pytest.mark.tensorflow
@pytest.mark.parametrize("config", ["{", "[]", TWO_HOSTS.replace("0", "2"), TWO_HOSTS + "}"])
def test_auto_does_not_train_alone_where_tf_config_is_wrong(monkeypatch, config):
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(ValueError, match="find each other by TF_CONFIG"):
        from_name("auto")


@pytest.mark.tensorflow
@pytest.mark.parametrize("strategy", ["auto", "multi_worker"])
@pytest.mark.parametrize(
    ("cluster", "task"),
    [
        ('"chief": ["a:1"], "worker": ["b:1"]', '"chief"'),
        ('"chief": ["a:1"], "worker": ["b:1", "c:1"]', '"worker"'),
        ('"worker": ["a:1", "b:1"], "evaluator": ["c:1"]', '"evaluator"'),
        ('"worker": ["a:1", "b:1"], "ps": ["c:1"]', '"worker"'),
        ('"worker": ["a:1", "b:1"]', '"chief"'),
    ],
)
def test_hosts_are_workers_alone(monkeypatch, strategy, cluster, task):
    """Of a chief and two workers three would train, of which two are the first of their kind."""
    config = f'{{"cluster": {{{cluster}}}, "task": {{"type": {task}, "index": 0}}}}'
    monkeypatch.setenv("TF_CONFIG", config)
    with pytest.raises(ValueError, match="all hosts under 'worker'.*Received: TF_CONFIG="):
        from_name(strategy)


@pytest.mark.tensorflow
@pytest.mark.parametrize("kind", ["chief", "worker"])
def test_a_cluster_of_one_host_is_one_device(monkeypatch, kind):
    config = f'{{"cluster": {{"{kind}": ["a:1"]}}, "task": {{"type": "{kind}", "index": 0}}}}'
    monkeypatch.setenv("TF_CONFIG", config)
    assert from_name("auto").name == "none"


@pytest.mark.skipif(BACKEND != "jax", reason="of JAX")
def test_a_number_of_processes_that_is_none_is_told(monkeypatch):
    monkeypatch.setenv("KERAS_DISTRIBUTION_NUM_PROCESSES", "abc")
    with pytest.raises(ValueError, match="NUM_PROCESSES is the number of processes.*'abc'"):
        from_name("auto")


def test_a_tpu_takes_no_buckets():
    from kerazoo.training.config import FinetuneConfig

    devices = distribution.Distribution("tpu", "a dry run")
    with pytest.raises(ValueError, match="rows of one width; .*--bucket-width.* bucket_width=8"):
        devices.prepare(None, FinetuneConfig(bucket_width=8))


@pytest.mark.tensorflow
@pytest.mark.slow
def test_a_tpu_that_is_not_there_is_an_error_in_a_sentence(monkeypatch):
    monkeypatch.setenv("TPU_NAME", "")
    with pytest.raises(ValueError, match="There is no TPU that answers"):
        from_name("tpu")


@pytest.mark.skipif(BACKEND != "jax", reason="of JAX")
def test_data_parallel_takes_all_devices():
    devices = from_name("data_parallel")
    assert devices.description == "DataParallel on 2 devices"
    with devices.scope():
        assert keras.distribution.distribution() is devices.engine
    assert keras.distribution.distribution() is None


@pytest.mark.skipif(BACKEND != "jax", reason="of JAX")
def test_model_parallel_is_of_one_machine(monkeypatch):
    monkeypatch.setenv("KERAS_DISTRIBUTION_NUM_PROCESSES", "3")
    with pytest.raises(ValueError, match="with 3 processes"):
        from_name("model_parallel")


def test_a_task_computes_as_the_settings_say(make_tiny_text_classifier):
    from kerazoo.training.config import FinetuneConfig

    task = make_tiny_text_classifier(compile=False)
    from_name("none").prepare(task, FinetuneConfig(batch_size=6, accumulate=3, rematerialize=True))
    assert (task.micro_batches, task.backbone.rematerialize) == (3, True)
    assert [layer.rematerialize for layer in task.backbone.transformer_layers] == [True, True]


@pytest.mark.skipif(BACKEND != "jax", reason="of JAX")
def test_what_tells_processes_of_jax_from_each_other_is_named(monkeypatch):
    monkeypatch.setenv("KERAS_DISTRIBUTION_NUM_PROCESSES", "2")
    distribution._data_parallel.cache_clear()
    lines = []
    with pytest.raises(ValueError, match=r"JOB_ADDRESSES=None, NUM_PROCESSES='2', PROCESS_ID=No"):
        from_name("data_parallel", lines.append)
    assert lines == ["Waiting until all 2 processes are there."]


@pytest.mark.slow
@pytest.mark.skipif(BACKEND == "torch", reason="PyTorch computes on one device.")
@pytest.mark.parametrize("number", ENDING)
@pytest.mark.parametrize("process", [0, 1])
def test_a_signal_ends_at_once_a_process_that_waits_for_another(process, number):
    child = started(["-c", WAITING], process, free_ports(2), stdout=subprocess.PIPE)
    assert child.stdout.readline() == "Waiting until all 2 processes are there.\n"
    time.sleep(3)  # so that the library waits, not Python
    child.send_signal(number)
    try:
        assert child.wait(timeout=5) == -number
    finally:
        child.kill()
        child.communicate()
