"""The tokenizer of a vocabulary file, of a folder with a trained vocabulary, or of a preset."""

import warnings
from pathlib import Path
from typing import Any

from kerazoo.conversion.huggingface_bpe_tokenizer import read_bpe_tokenizer
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.source import KERAZOO, open_checkpoint
from kerazoo.conversion.tokenizer_kinds import WORDPIECE, new_tokenizer
from kerazoo.tokenizers import byte_bpe, gpt_bpe, wordpiece  # noqa: F401 (registered with Keras)
from kerazoo.tokenizers.saved_tokenizer import saved_tokenizer


def vocabulary_tokenizer(vocabulary: str | Path, lowercase: bool = True) -> Any:
    """Return a tokenizer of a vocabulary that `kerazoo vocab` wrote, or of another one.

    Args:
        vocabulary: a file with a WordPiece entry a line, or a folder with the vocab.json and
            merges.txt of a BPE vocabulary.
        lowercase: bool, lower-case texts and strip accents; a folder says it itself.

    Raises:
        FileNotFoundError: if there is no such file, or the folder lacks one.
        ValueError: if it holds no vocabulary.
    """
    path = Path(vocabulary)
    if path.is_dir():
        return new_tokenizer(*read_bpe_tokenizer(path))
    tokenizer = new_tokenizer(WORDPIECE, {"vocabulary": path, "lowercase": lowercase})
    entries = set(tokenizer.get_vocabulary()) - set(tokenizer.special_tokens)
    if lowercase and any(entry[:1].isupper() for entry in entries):
        warnings.warn(
            "The vocabulary has entries with capitals, which lower-cased texts never give. For a "
            "cased model say --cased (lowercase=False).",
            stacklevel=2,
        )
    return tokenizer


def preset_tokenizer(preset: str | Path) -> Any:
    """Return the tokenizer of a kerazoo preset, a Hugging Face folder or handle, or Google's TF1.

    Raises:
        FileNotFoundError: if there is no such folder, or it has no tokenizer.
        ValueError: if the folder is no checkpoint, or its tokenizer is of another kind.
    """
    source = open_checkpoint(preset)
    if source.format != KERAZOO:
        return source.tokenizer()
    files = [source.folder / name for name in ("preprocessor.json", "tokenizer.json")]
    file = next((file for file in files if file.is_file()), None)
    if file is None:
        raise FileNotFoundError(
            "The preset has no tokenizer. Name another one, or a vocabulary. "
            f"Received: preset={str(preset)!r}"
        )
    return saved_tokenizer(read_json_object(file), source.folder)
