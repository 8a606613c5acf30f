"""The README's tour runs as it stands, on a tiny checkpoint instead of BERT-base."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import kerazoo

README = Path(__file__).resolve().parents[2] / "README.md"
CHECKPOINT = "hf://google-bert/bert-base-uncased"
GPT_CHECKPOINT = "hf://openai-community/gpt2"


def python_blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), re.M | re.S)


@pytest.fixture(scope="module")
def checkpoint(make_tiny_text_classifier, tmp_path_factory) -> Path:
    """A Hugging Face folder with room for 128 positions."""
    folder = tmp_path_factory.mktemp("checkpoint") / "bert"
    make_tiny_text_classifier(max_sequence_length=128).export_to_transformers(folder)
    return folder


@pytest.fixture(scope="module")
def gpt_checkpoint(make_tiny_gpt, tiny_bpe_tokenizer, tmp_path_factory) -> Path:
    """A Hugging Face folder of a language model."""
    from kerazoo import CausalLM, CausalLMPreprocessor

    folder = tmp_path_factory.mktemp("checkpoint") / "gpt"
    preprocessor = CausalLMPreprocessor(tiny_bpe_tokenizer, sequence_length=64)
    backbone = make_tiny_gpt(max_sequence_length=64)
    CausalLM(backbone, preprocessor).export_to_transformers(folder)
    return folder


@pytest.mark.slow
def test_the_tour_runs(checkpoint, gpt_checkpoint, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    tour, without_kerazoo, writer = python_blocks()
    assert CHECKPOINT in tour
    exec(compile(tour.replace(CHECKPOINT, str(checkpoint)), "README.md", "exec"), {})
    assert (tmp_path / "saved_models/mine/1/saved_model.pb").is_file()
    assert "should serve this folder" in capfd.readouterr().out

    asked = subprocess.run(
        [sys.executable, "-c", without_kerazoo], capture_output=True, text=True, check=False
    )
    assert asked.returncode == 0, asked.stderr
    assert re.search(r"b'(good|bad)'", asked.stdout)

    writer = writer.replace(GPT_CHECKPOINT, str(gpt_checkpoint))
    exec(compile(writer, "README.md", "exec"), {"kerazoo": kerazoo})
    assert "The weather tomorrow" in capfd.readouterr().out
