"""A GPT of tiny size and a byte-level tokenizer for it, made of nothing but their own code."""

from typing import Any

import keras

from kerazoo import ByteBPETokenizer, GPTBackbone
from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS

MERGES = [("t", "h"), ("th", "e"), ("Ġ", "a"), ("o", "o"), ("f", "i")]
END = "<|endoftext|>"


def tiny_byte_tokenizer(task_tokens: bool = True) -> ByteBPETokenizer:
    """A tokenizer of 262 tokens, and 3 more for fine-tuning; the end token is also the pad."""
    entries = [END, *BYTE_CHARACTERS, *("".join(pair) for pair in MERGES)]
    vocabulary = {entry: number for number, entry in enumerate(entries)}
    tokenizer = ByteBPETokenizer(vocabulary, MERGES)
    return tokenizer.with_task_tokens() if task_tokens else tokenizer


def tiny_gpt(**overrides: Any) -> GPTBackbone:
    """A backbone of 2 layers, 4 heads, hidden 20, feed-forward 24, 265 tokens, 40 positions."""
    keras.utils.set_random_seed(7)
    size = {
        "vocabulary_size": 265,
        "num_layers": 2,
        "num_heads": 4,
        "hidden_dim": 20,
        "intermediate_dim": 24,
        "max_sequence_length": 40,
        "initializer_range": 0.2,
    }
    return GPTBackbone(**(size | overrides))
