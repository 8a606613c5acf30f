"""Two processes of one strategy, and one alone, for the tests that compare them."""

import json
import os
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import keras


def free_ports(count):
    """Ports that nobody has."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("localhost", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def environment_of(number, ports):
    """What tells a process which one it is, and where the other is."""
    if keras.config.backend() == "jax":
        return {
            "KERAS_DISTRIBUTION_JOB_ADDRESSES": f"localhost:{ports[0]}",
            "KERAS_DISTRIBUTION_NUM_PROCESSES": "2",
            "KERAS_DISTRIBUTION_PROCESS_ID": str(number),
            "XLA_FLAGS": "",
        }
    cluster = {"worker": [f"localhost:{port}" for port in ports]}
    task = {"type": "worker", "index": number}
    return {"TF_CONFIG": json.dumps({"cluster": cluster, "task": task})}


def run_in_processes(arguments_of, timeout=400):
    """Run Python three times at once: as first and second process, and alone.

    `arguments_of(strategy, number)` gives the arguments; the strategy is "auto" or, alone, "none".
    """
    ports = free_ports(2)
    children = [started(arguments_of("auto", number), number, ports) for number in range(2)]
    children.append(started(arguments_of("none", 2)))
    assert [code for code, _ in ended(children, timeout)] == [0, 0, 0]


def run_in_two(arguments_of, timeout=400):
    """Run Python twice at once, as first and second process; return what `ended` does.

    `arguments_of(number)` gives the arguments.
    """
    ports = free_ports(2)
    return ended(
        [started(arguments_of(n), n, ports, stderr=subprocess.PIPE) for n in (0, 1)], timeout
    )


def started(arguments, number=0, ports=(), **options):
    """Start Python as one of the processes that have ports, or alone."""
    added = environment_of(number, ports) if ports else {}
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **added}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.Popen(command, env=env, text=True, **options)


def ended(children, timeout):
    """Wait for processes; return the exit code of each and what it wrote to standard error."""
    try:
        with ThreadPoolExecutor(len(children)) as pool:  # one that is not read from would wait
            said = list(pool.map(lambda child: child.communicate(timeout=timeout)[1], children))
    finally:
        for child in children:
            child.kill()
    return [(child.returncode, words) for child, words in zip(children, said, strict=True)]
