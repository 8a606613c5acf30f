"""Every example runs from beginning to end in its small form."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from real_data import minilm_folder
from safetensors.numpy import load_file, save_file

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

# Runs each example in a process of its own, forked from one that has imported the libraries, which
# takes as long as an example does, and has computed nothing.
RUN_EXAMPLES = """
import json, os, runpy, sys
import keras, keras_hub, tensorflow, tensorflow_text
for line in sys.stdin:
    said, *sys.argv = json.loads(line)
    if process := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
        continue
    output = os.open(said, os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    runpy.run_path(sys.argv[0], run_name="__main__")
    break
"""


@pytest.fixture(scope="module")
def path_of_small_minilm(tmp_path_factory):
    """A folder to import the package of MiniLM from, where it has its two lowest layers alone."""
    path = tmp_path_factory.mktemp("packages")
    real, small = minilm_folder(), path / minilm_folder().parent.name / "model"
    small.mkdir(parents=True)
    for name in ("tokenizer.json", "tokenizer_config.json", "vocab.txt"):
        (small / name).symlink_to(real / name)
    config = json.loads((real / "config.json").read_text(encoding="utf-8"))
    (small / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 2}))
    weights = load_file(real / "model.safetensors")
    above = tuple(f"encoder.layer.{layer}." for layer in range(2, config["num_hidden_layers"]))
    kept = {name: value for name, value in weights.items() if not name.startswith(above)}
    save_file(kept, small / "model.safetensors")
    return path


@pytest.fixture(scope="module")
def run_example(path_of_small_minilm):
    """A function that runs an example and returns its exit code."""
    environment = os.environ | {"KERAS_BACKEND": "tensorflow"}
    before = environment.get("PYTHONPATH")
    path = [str(path_of_small_minilm), *([before] if before else [])]
    environment["PYTHONPATH"] = os.pathsep.join(path)
    command = [sys.executable, "-c", RUN_EXAMPLES]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:

        def run(said, example, *arguments):
            process.stdin.write(json.dumps([str(said), str(example), "--smoke", *arguments]) + "\n")
            process.stdin.flush()
            return int(process.stdout.readline())

        yield run


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(run_example, example, tmp_path):
    said = tmp_path / "said.txt"
    exit_code = run_example(said, example, "--output", str(tmp_path / "output" / example.stem))
    assert exit_code == 0, said.read_text(encoding="utf-8")
    assert "Done." in said.read_text(encoding="utf-8")
    assert any((tmp_path / "output").rglob("*"))  # it wrote where it was told to


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_to_expect(example):
    head = example.read_text(encoding="utf-8").split('"""')[1]
    for heading in ("Command:", "Time:", "Machine:", "Expected:"):
        assert heading in head
