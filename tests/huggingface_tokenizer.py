"""Hugging Face tokenizers made from a vocabulary: the reference of the parity tests."""

import json
from collections.abc import Sequence
from pathlib import Path

from tokenizers import Encoding, Tokenizer, models, normalizers, pre_tokenizers

SPECIAL_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def reference_tokenizer(
    vocabulary: Sequence[str],
    lowercase: bool = True,
    strip_accents: bool | None = None,
    split_on_cjk: bool = True,
    special_tokens_in_strings: bool = False,
) -> Tokenizer:
    """The fast tokenizer that `transformers` builds for BERT, without [CLS] and [SEP] around."""
    ids = {entry: number for number, entry in enumerate(vocabulary)}
    model = models.WordPiece(vocab=ids, unk_token="[UNK]", max_input_chars_per_word=100)
    tokenizer = Tokenizer(model)
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True,
        handle_chinese_chars=split_on_cjk,
        strip_accents=strip_accents,
        lowercase=lowercase,
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special_tokens_in_strings:
        tokenizer.add_special_tokens(SPECIAL_TOKENS)
    return tokenizer


def encode(tokenizer: Tokenizer, texts: Sequence[str]) -> list[Encoding]:
    """Encode texts without adding tokens."""
    return tokenizer.encode_batch(list(texts), add_special_tokens=False)


def write_tokenizer_folder(
    folder: Path,
    vocabulary: Sequence[str],
    lowercase: bool = True,
    strip_accents: bool | None = None,
    split_on_cjk: bool = True,
) -> Path:
    """Write the files from which `AutoTokenizer.from_pretrained(folder)` makes a BERT tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{entry}\n" for entry in vocabulary)
    (folder / "vocab.txt").write_bytes(lines.encode("utf-8"))
    tokenizer_config = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": lowercase,
        "strip_accents": strip_accents,
        "tokenize_chinese_chars": split_on_cjk,
        "model_max_length": 512,
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
        "pad_token": "[PAD]",
        "unk_token": "[UNK]",
        "mask_token": "[MASK]",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(tokenizer_config))
    (folder / "config.json").write_text(
        json.dumps({"model_type": "bert", "vocab_size": len(vocabulary)})
    )
    return folder
