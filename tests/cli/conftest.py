"""Tiny trained models in a folder, and the command line in this process."""

import json

import pytest
from click.testing import CliRunner

from kerazoo.cli.main import kerazoo


@pytest.fixture(scope="session")
def command():
    """Run `kerazoo …` in this process; returns click's result."""

    def run(*arguments, **options):
        return CliRunner().invoke(kerazoo, [str(a) for a in arguments], **options)

    return run


@pytest.fixture(scope="session")
def preset(make_tiny_text_classifier, tmp_path_factory):
    """A preset with the labels bad, good and mixed."""
    folder = tmp_path_factory.mktemp("models") / "preset"
    make_tiny_text_classifier().save_to_preset(str(folder))
    return folder


@pytest.fixture(scope="session")
def huggingface_folder(make_tiny_text_classifier, tmp_path_factory):
    """The same classifier as a Hugging Face folder."""
    folder = tmp_path_factory.mktemp("models") / "huggingface"
    make_tiny_text_classifier().export_to_transformers(folder)
    return folder


@pytest.fixture(scope="session")
def make_language_model():
    """A function that builds a language model of GPT-2's kind, or of GPT-1's."""
    from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

    from kerazoo import CausalLM, CausalLMPreprocessor

    def make(normalize_first=True):
        # Four times as wide inside, which is all that Hugging Face's GPT-1 can be.
        sizes = {"vocabulary_size": 262, "intermediate_dim": 80}
        backbone = tiny_gpt(normalize_first=normalize_first, **sizes)
        tokenizer = tiny_byte_tokenizer(task_tokens=False)
        return CausalLM(backbone, CausalLMPreprocessor(tokenizer, sequence_length=37))

    return make


@pytest.fixture
def rows(tmp_path):
    """Labelled rows in a file: 12 for training, 5 for validation."""
    train, validation = tmp_path / "train.tsv", tmp_path / "validation.jsonl"
    texts = ["the film was good", "dull play", "not very good", "a great film"]
    labels = ["good", "bad", "mixed", "good"]
    lines = [f"{text}\t{label}" for text, label in zip(texts, labels, strict=True)] * 3
    train.write_text("\n".join(["text\tlabel", *lines]) + "\n")
    records = [{"text": t, "label": b} for t, b in zip(texts, labels, strict=True)]
    records.append({"text": "", "label": "bad"})
    validation.write_text("".join(json.dumps(record) + "\n" for record in records))
    return train, validation
