import re
import time

import pytest
import tensorflow as tf

from kerazoo.data import data_service as module
from kerazoo.data.data_server import DataServer
from kerazoo.data.data_service import DataService


@pytest.fixture(scope="module")
def addresses():
    with DataServer() as first, DataServer() as second:
        yield [first.address, second.address]


def inputs():
    """Pairs (7, 0), (8, 1), …"""
    return tf.data.Dataset.zip(tf.data.Dataset.counter(7), tf.data.Dataset.counter())


def batch(first, second):
    return {"both": tf.stack([first, second])}, tf.strings.as_string(first)


def taken(dataset, count):
    return [(x["both"].tolist(), y) for x, y in dataset.take(count).as_numpy_iterator()]


def failing(number, _):
    path = tf.where(number < 12, "/dev/null", "/no/such/shard")
    return tf.strings.length(tf.io.read_file(path))


@pytest.mark.parametrize("count", [1, 2])
def test_batches_come_in_order_whoever_prepares_them(addresses, count):
    served = DataService(addresses[:count]).batches(inputs(), batch)
    assert taken(served, 50) == [([7 + n, n], b"%d" % (7 + n)) for n in range(50)]
    # Whoever asks again begins again.
    assert taken(served, 3) == [([7 + n, n], b"%d" % (7 + n)) for n in range(3)]
    assert served.element_spec[0]["both"].shape == (2,)


def test_no_address_is_no_service():
    assert DataService.of([]) is None
    assert DataService.of(()) is None


def test_a_server_is_named_once(addresses):
    twice = [addresses[0], addresses[0].removeprefix("grpc://")]
    with pytest.raises(ValueError, match="name each once. Received: data_service="):
        DataService(twice)


def test_a_server_that_is_not_there_is_told(addresses):
    with pytest.raises(ConnectionError, match="No data service answers at grpc://localhost:1"):
        DataService([addresses[0], "localhost:1"])


def test_what_fails_elsewhere_is_a_sentence(addresses):
    served = DataService(addresses)
    batches = served.batches(inputs(), failing, first=4)
    message = r"prepare batch (\d+), or one after it, .*under the path .*/no/such/shard"
    with pytest.raises(RuntimeError, match=message) as raised, served.failures_told():
        list(batches)
    # A server that has failed ahead gives none of the batches that it had ready.
    due = int(re.search(message, str(raised.value)).group(1))
    assert 4 <= due <= 9


def test_other_failures_stay_what_they_are(addresses):
    served = DataService(addresses)
    with pytest.raises(KeyError, match="other"), served.failures_told():
        raise KeyError("other")


def test_a_batch_out_of_turn_ends_the_run(addresses):
    # A second worker of a dispatcher begins at the first batch.
    served = DataService(addresses)
    twice = tf.data.Dataset.from_tensor_slices(([3, 4, 3], [1, 2, 3]))
    found = served._read(twice, 3)
    assert [int(next(found)), int(next(found))] == [1, 2]
    with pytest.raises(RuntimeError, match="gave batch 3 where batch 5 was due.*--resume"):
        next(found)
    assert isinstance(served.failure, RuntimeError)


def test_a_server_that_is_slow_is_waited_for(addresses, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.05)

    def slowly():
        time.sleep(0.4)
        yield 0, 5

    signature = (tf.TensorSpec((), tf.int64), tf.TensorSpec((), tf.int64))
    slow = tf.data.Dataset.from_generator(slowly, output_signature=signature)
    assert int(next(DataService(addresses)._read(slow, 0))) == 5


@pytest.mark.slow
def test_a_server_that_is_lost_ends_the_run(addresses, monkeypatch):
    monkeypatch.setattr(module, "_LOOK_SECONDS", 0.1)
    with DataServer() as other:
        served = DataService([addresses[0], other.address])
        batches = iter(served.batches(inputs(), batch))
        next(batches)
    with (
        pytest.raises(ConnectionError, match=r"Batch \d+ does not come, .*again, .*--resume"),
        served.failures_told(),
    ):
        list(batches)
