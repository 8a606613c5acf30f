"""Every example runs from beginning to end in its small form."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def run(example: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, str(example), "--smoke", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(example, tmp_path):
    result = run(example, "--output", str(tmp_path / example.stem))
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Done." in result.stdout
    assert any(tmp_path.rglob("*"))  # it wrote where it was told to


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_says_what_to_expect(example):
    head = example.read_text(encoding="utf-8").split('"""')[1]
    for heading in ("Command:", "Time:", "Machine:", "Expected:"):
        assert heading in head
