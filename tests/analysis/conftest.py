"""Tiny models with weights wide enough for attention that is far from uniform."""

import numpy as np
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


@pytest.fixture(scope="session")
def make_attention_map():
    """A function that makes an `AttentionMap` of random weights, without a model."""
    from kerazoo.analysis.attention import AttentionMap

    def make(texts, tokens, segments=None, offsets=None, layers=3, heads=5):
        size = len(tokens)
        weights = np.random.default_rng(4).random((layers, heads, size, size)) ** 5
        return AttentionMap(
            texts=texts,
            tokens=tokens,
            token_ids=np.arange(size, dtype="int32"),
            segment_ids=np.array(segments or [0] * size, "int32"),
            offsets=np.array(offsets or [[-1, -1]] * size, "int32"),
            weights=(weights / weights.sum(axis=-1, keepdims=True)).astype("float32"),
        )

    return make


@pytest.fixture(scope="session")
def patterns_of():
    """A function that gives an `AttentionMap` its `HeadPatterns`; measures but two are random."""
    from kerazoo.analysis.head_measures import MEASURES
    from kerazoo.analysis.patterns import HeadPatterns

    def make(found):
        weights = found.weights.astype("float64")
        mean = np.random.default_rng(5).random((*weights.shape[:2], len(MEASURES)))
        entropy = -(weights * np.log(np.maximum(weights, 1e-30))).sum(axis=-1).mean(axis=-1)
        mean[:, :, MEASURES.index("entropy")] = entropy
        mean[:, :, MEASURES.index("to_next")] = np.nan
        unknown = np.full_like(mean, np.nan)
        return HeadPatterns(mean, unknown, mean.mean(axis=1), unknown[:, 0], texts=1)

    return make
