import json
import os
import re
import signal
import subprocess
import sys

import pytest
from tiny_corpus import write_corpus

from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings


@pytest.fixture
def start():
    """Start `kerazoo data-service`; return the process and the address that it says."""
    started = []

    def run(*options):
        command = [sys.executable, "-m", "kerazoo", "data-service", *options]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        started.append(process)
        said = process.stdout.readline()
        return process, re.search(r"--data-service (grpc://\S+)\n", said)[1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(start, number):
    process, address = start("--port", "0", "--host", "127.0.0.1")
    assert re.fullmatch(r"grpc://127\.0\.0\.1:\d+", address)
    process.send_signal(number)
    said, wrong = process.communicate(timeout=30)
    assert (process.returncode, said) == (0, "Stopped.\n")
    assert "Traceback" not in wrong


@pytest.mark.slow
def test_a_training_takes_its_batches(start, command, tiny_tokenizer, tmp_path):
    corpus = write_corpus(tmp_path / "corpus.txt", 23)
    shards = tmp_path / "shards"
    prepare([corpus], tiny_tokenizer, shards, PrepareSettings("bert-mlm", sequence_length=11))
    options = ["--size", "tiny", "--steps", 3, "--batch-size", 5, "--seed", 3]
    process, address = start("--port", "0", "--host", "localhost")

    def trained(name, *more):
        given = ["--data", shards, "--output", tmp_path / name, *options, *more, "--json"]
        result = command("pretrain", *given)
        assert result.exit_code == 0, result.stderr
        return json.loads(result.stdout)

    served, alone = trained("served", "--data-service", address), trained("alone")
    assert (served["loss"], served["accuracy"]) == (alone["loss"], alone["accuracy"])
    process.terminate()
    assert process.wait(timeout=30) == 0
    result = command(
        "pretrain",
        "--data",
        shards,
        "--output",
        tmp_path / "a",
        *options,
        "--data-service",
        address,
    )
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith(f"Error: No data service answers at {address}")


@pytest.mark.parametrize(
    ("options", "words"),
    [(["--port", "65535"], "--port"), (["--port", "x"], "--port"), (["more"], "unexpected extra")],
)
def test_what_is_wrong_is_told(command, options, words):
    result = command("data-service", *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_a_port_that_is_taken_is_a_sentence(command, monkeypatch):
    def taken(port):
        raise OSError(f"Port {port} cannot be opened.")

    monkeypatch.setattr("kerazoo.data.data_server._check_is_free", taken)
    result = command("data-service", "--port", 5000)
    assert (result.exit_code, result.stderr) == (1, "Error: Port 5000 cannot be opened.\n")
    assert result.stdout == ""
