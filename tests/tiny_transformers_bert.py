"""A tiny random BERT that `transformers` writes, for tests of parity."""

from pathlib import Path
from typing import Any

from tiny_extractive_qa import VOCABULARY


def write_bert(folder: Path, architecture: str, **fields: Any) -> Path:
    """Write a model of a class of `transformers`, with a vocabulary, and return the folder."""
    import torch
    import transformers

    config = transformers.BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=20,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=24,
        max_position_embeddings=17,
        initializer_range=0.3,
        pad_token_id=3,
        attn_implementation="eager",
        **fields,
    )
    torch.manual_seed(1)
    getattr(transformers, architecture)(config).eval().save_pretrained(folder)
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    return folder
