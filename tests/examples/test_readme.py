"""The README's tour runs as it stands, on a tiny checkpoint instead of BERT-base."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).resolve().parents[2] / "README.md"
CHECKPOINT = "hf://google-bert/bert-base-uncased"


def python_blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def checkpoint(make_tiny_text_classifier, tmp_path_factory) -> Path:
    """A Hugging Face folder with room for 128 positions."""
    folder = tmp_path_factory.mktemp("checkpoint") / "bert"
    make_tiny_text_classifier(max_sequence_length=128).export_to_transformers(folder)
    return folder


@pytest.mark.slow
def test_the_tour_runs(checkpoint, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    tour, without_kerazoo = python_blocks()
    assert CHECKPOINT in tour
    exec(compile(tour.replace(CHECKPOINT, str(checkpoint)), "README.md", "exec"), {})
    assert (tmp_path / "saved_models/mine/1/saved_model.pb").is_file()
    assert "should serve this folder" in capfd.readouterr().out

    asked = subprocess.run(
        [sys.executable, "-c", without_kerazoo], capture_output=True, text=True, check=False
    )
    assert asked.returncode == 0, asked.stderr
    assert re.search(r"b'(good|bad)'", asked.stdout)
