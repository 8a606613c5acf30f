import atexit

import keras
import pytest

from kerazoo.training import process_exchange as module
from kerazoo.training.distribution import Distribution
from kerazoo.training.process_exchange import (
    LONGEST,
    exchange,
    is_lost_process,
    leave_without_the_others,
)

BACKEND = keras.config.backend()


@pytest.mark.tensorflow
def test_words_are_gathered_on_tensorflow(mirrored_strategy):
    # Two replicas of one process say what two processes would.
    devices = Distribution("mirrored", "two devices", mirrored_strategy, 0, 2)
    for words in ("影 and words", "x" * LONGEST, ""):
        assert exchange(devices, words) == [words] * 2
    one_of_two_replicas = Distribution("mirrored", "two devices", mirrored_strategy, 0, 1)
    assert exchange(one_of_two_replicas, "once") == ["once"]


@pytest.mark.skipif(BACKEND != "jax", reason="of JAX")
def test_words_are_gathered_on_jax():
    assert exchange(Distribution("data_parallel", "", None, 0, 1), "影 words") == ["影 words"]


@pytest.mark.tensorflow
def test_what_tensorflow_says_of_a_lost_process():
    import tensorflow as tf

    errors = tf.errors
    aborted = "Collective ops is aborted by: Error reported from /job:worker/task:1"
    assert is_lost_process(errors.UnavailableError(None, None, "Socket closed"))
    assert is_lost_process(errors.InternalError(None, None, aborted))
    assert not is_lost_process(errors.InternalError(None, None, "something else"))
    assert not is_lost_process(ValueError(aborted))


@pytest.mark.skipif(BACKEND != "jax", reason="of JAX")
@pytest.mark.parametrize("kind", ["JaxRuntimeError", "ValueError"])
def test_what_jax_says_of_a_lost_process(kind):
    import jax

    kind = getattr(jax.errors, kind, ValueError)
    assert is_lost_process(kind("UNKNOWN: Gloo AllGather failed: Connection closed by peer"))
    assert not is_lost_process(kind("RESOURCE_EXHAUSTED: Out of memory"))
    assert not is_lost_process(RuntimeError("Gloo AllGather failed"))


def test_only_jax_would_wait_for_a_lost_process(monkeypatch):
    registered = []
    monkeypatch.setattr(atexit, "register", registered.append)
    leave_without_the_others()
    assert registered == ([module._leave] if BACKEND == "jax" else [])


def test_leaving_says_what_is_left_to_say(monkeypatch, capfd):
    codes = []
    monkeypatch.setattr(module.os, "_exit", codes.append)
    module._leave()
    assert codes == [1]
