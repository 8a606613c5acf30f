"""Two processes of one strategy, and one alone, for the tests that compare them."""

import json
import os
import socket
import subprocess
import sys

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
    common = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    children = []
    for number in range(3):
        added = environment_of(number, ports) if number < 2 else {}
        arguments = arguments_of("auto" if number < 2 else "none", number)
        command = [sys.executable, *map(str, arguments)]
        children.append(subprocess.Popen(command, env={**common, **added}))
    try:
        assert [child.wait(timeout=timeout) for child in children] == [0, 0, 0]
    finally:
        for child in children:
            child.kill()
