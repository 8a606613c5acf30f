import socket

import pytest

from kerazoo.data.data_server import DataServer, _check_is_free
from kerazoo.data.service_address import host_and_port, workers_of


def two_free_ports():
    """The first of two ports in a row that nobody has."""
    with socket.socket() as first:
        first.bind(("", 0))
        port = first.getsockname()[1]
        try:
            with socket.socket() as second:
                second.bind(("", port + 1))
        except OSError:
            return two_free_ports()
    return port


def test_the_worker_has_the_next_port():
    port = two_free_ports()
    with DataServer(port, "127.0.0.1") as server:
        assert server.address == f"grpc://127.0.0.1:{port}"
        assert workers_of(host_and_port(server.address)) == [f"127.0.0.1:{port + 1}"]
    with pytest.raises(ConnectionError):
        workers_of(host_and_port(server.address))
    with DataServer(port):  # both ports are free again
        pass


def test_zero_takes_free_ports():
    with DataServer() as first, DataServer() as second:
        assert first.address != second.address


@pytest.mark.parametrize("taken", [0, 1])
def test_a_port_that_is_taken_is_told(taken):
    port = two_free_ports()
    with socket.socket() as other:
        # As gRPC opens it: two programs may then share the port.
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("", port + taken))
        other.listen()
        with (
            pytest.raises(OSError, match=f"Port {port + taken} cannot be opened.*in use"),
            DataServer(port),
        ):
            pass


def test_a_server_may_be_started_anew_at_once():
    with socket.create_server(("localhost", 0)) as listening:
        port = listening.getsockname()[1]
        with socket.create_connection(("localhost", port)):
            listening.accept()[0].close()  # who closes first keeps the port for a minute
    _check_is_free(port)
