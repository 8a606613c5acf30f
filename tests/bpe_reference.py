"""Byte-pair tokenizers of the `tokenizers` library: the reference of the parity tests."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from nasty_strings import NASTY_STRINGS
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS

END_OF_TEXT = "<|endoftext|>"
Merges = Sequence[Sequence[str]]


def byte_reference(
    vocabulary: dict[str, int], merges: Merges, special_tokens: Sequence[str] = ()
) -> Tokenizer:
    """GPT-2's tokenizer; special tokens are recognised in texts."""
    model = models.BPE(vocab=vocabulary, merges=[tuple(merge) for merge in merges])
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(list(special_tokens))
    return tokenizer


def gpt_reference(
    vocabulary: dict[str, int],
    merges: Merges,
    special_tokens: Sequence[str] = (),
    lowercase: bool = True,
    strip_accents: bool | None = None,
) -> Tokenizer:
    """GPT-1's tokenizer, as `transformers` makes it; special tokens are recognised in texts."""
    model = models.BPE(
        vocab=vocabulary,
        merges=[tuple(merge) for merge in merges],
        unk_token="<unk>",
        end_of_word_suffix="</w>",
        continuing_subword_prefix="",
        fuse_unk=False,
    )
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=lowercase, strip_accents=strip_accents
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.BPEDecoder(suffix="</w>")
    tokenizer.add_special_tokens(list(special_tokens))
    return tokenizer


@cache
def byte_vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A byte-level vocabulary and merges, learned from the nasty strings; byte ids are mixed."""
    tokenizer = byte_reference({}, [])
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=[END_OF_TEXT],
        initial_alphabet=sorted(BYTE_CHARACTERS, key=lambda c: ord(c) % 37),
        show_progress=False,
    )
    return _trained(tokenizer, trainer, NASTY_STRINGS * 2)


@cache
def gpt_vocabulary() -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary and merges of GPT-1's kind; every fifth of the texts is not learned from."""
    tokenizer = gpt_reference({"<unk>": 0}, [])
    trainer = trainers.BpeTrainer(
        vocab_size=900,
        special_tokens=["<unk>"],
        end_of_word_suffix="</w>",
        show_progress=False,
    )
    return _trained(tokenizer, trainer, [t for n, t in enumerate(NASTY_STRINGS) if n % 5] * 2)


def write_files(folder: Path, vocabulary: dict[str, int], merges: Merges) -> tuple[Path, Path]:
    """Write `vocab.json` and `merges.txt` into a folder, and return their paths."""
    paths = folder / "vocab.json", folder / "merges.txt"
    paths[0].write_text(json.dumps(vocabulary), encoding="utf-8")
    lines = "".join(f"{left} {right}\n" for left, right in merges)
    paths[1].write_bytes(f"#version: 0.2\n{lines}".encode())
    return paths


def _trained(
    tokenizer: Tokenizer, trainer: trainers.BpeTrainer, texts: Iterable[str]
) -> tuple[dict[str, int], list[tuple[str, str]]]:
    tokenizer.train_from_iterator(texts, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]
