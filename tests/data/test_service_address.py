import socket

import pytest
import tensorflow as tf

from kerazoo.data.data_server import DataServer
from kerazoo.data.service_address import check_server, host_and_port, workers_of

service = tf.data.experimental.service


@pytest.fixture(scope="module")
def server():
    with DataServer() as started:
        yield host_and_port(started.address)


@pytest.fixture
def silent():
    """A port on which somebody listens and never says anything."""
    with socket.socket() as listening:
        listening.bind(("localhost", 0))
        listening.listen()
        yield f"localhost:{listening.getsockname()[1]}"


def worker_of(dispatcher, address="localhost:%port%"):
    return service.WorkerServer(
        service.WorkerConfig(dispatcher_address=dispatcher._address, worker_address=address)
    )


@pytest.mark.parametrize(
    "address", ["grpc://host:5000", "host:5000", " grpc://host:5000\n", "grpc://host:05000"]
)
def test_a_protocol_may_be_left_out(address):
    assert host_and_port(address) == "host:5000"


def test_an_address_may_be_a_number():
    assert host_and_port("grpc://[::1]:80") == "[::1]:80"
    assert host_and_port("10.0.0.2:80") == "10.0.0.2:80"


@pytest.mark.parametrize(
    "address", ["", "host", "host:0", "host:65536", "file:///a", "http://host:80", "grpc://h:1/a"]
)
def test_other_addresses_are_refused(address):
    with pytest.raises(ValueError, match=r"like grpc://host:5000, which .*data_service='.*'"):
        host_and_port(address)


def test_a_dispatcher_with_one_worker_is_right(server):
    check_server(server)
    assert len(workers_of(server)) == 1


def test_nobody_answers(silent):
    address = "localhost:1"
    with pytest.raises(ConnectionError, match="No data service .*--port 1`.*UNAVAILABLE"):
        check_server(address)
    with pytest.raises(ConnectionError, match="No data service answers at grpc://localhost:"):
        check_server(silent, seconds=0.3)


def test_a_worker_is_no_dispatcher(server):
    (worker,) = workers_of(server)
    with pytest.raises(ValueError, match=f"{worker} is no dispatcher .*UNIMPLEMENTED"):
        check_server(worker)


def test_each_dispatcher_has_one_worker():
    dispatcher = service.DispatchServer()
    with pytest.raises(ValueError, match="one on each, and name all .* with no worker"):
        check_server(dispatcher._address)
    workers = [worker_of(dispatcher) for _ in range(2)]
    with pytest.raises(ValueError, match="with 2 workers, localhost:.*, localhost:"):
        check_server(dispatcher._address)
    del workers


def test_a_worker_that_cannot_be_reached_is_told():
    dispatcher = service.DispatchServer()
    worker = worker_of(dispatcher, "localhost:1")
    with pytest.raises(ConnectionError, match="at localhost:1, which cannot be reached .*--host"):
        check_server(dispatcher._address)
    del worker
