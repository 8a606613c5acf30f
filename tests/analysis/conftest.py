"""Tiny models with weights wide enough for attention that is far from uniform."""

import pytest
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt


@pytest.fixture(scope="session")
def sharp_bert(make_tiny_backbone, tiny_tokenizer):
    """(backbone of 3 layers and 13 positions, tokenizer)."""
    return (
        make_tiny_backbone(num_layers=3, max_sequence_length=13, initializer_range=0.4),
        tiny_tokenizer,
    )


@pytest.fixture(scope="session")
def make_sharp_gpt():
    """A function that builds (language model's backbone of 2 layers, tokenizer)."""

    def make(normalize_first=True, task_tokens=False):
        backbone = tiny_gpt(
            normalize_first=normalize_first,
            vocabulary_size=265 if task_tokens else 262,
            intermediate_dim=80,
            initializer_range=0.6,
        )
        return backbone, tiny_byte_tokenizer(task_tokens=task_tokens)

    return make
