"""The kinds of tokenizer in foreign folders: how each is read, made and written."""

import importlib
import inspect
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerazoo.conversion import huggingface_bpe_tokenizer, huggingface_tokenizer
from kerazoo.conversion.model_type import ModelType
from kerazoo.conversion.model_types import BERT

WORDPIECE = "wordpiece"
TASK_TOKENS = 3
"""How many tokens a BPE tokenizer has for fine-tuning, beside its vocabulary."""

# Kind: module, class, name for people.
_KINDS = {
    WORDPIECE: ("kerazoo.tokenizers.wordpiece", "WordPieceTokenizer", "WordPiece"),
    huggingface_bpe_tokenizer.BYTE_BPE: (
        "kerazoo.tokenizers.byte_bpe",
        "ByteBPETokenizer",
        "byte-level BPE",
    ),
    huggingface_bpe_tokenizer.GPT_BPE: (
        "kerazoo.tokenizers.gpt_bpe",
        "GPTBPETokenizer",
        "BPE of GPT-1",
    ),
}
_WORDPIECE_ARGUMENTS = (
    *("lowercase", "strip_accents", "split_on_cjk", "max_characters_per_word"),
    *("oov_token", "cls_token", "sep_token", "pad_token", "mask_token"),
)
# Options of kerazoo's WordPiece tokenizer that Hugging Face's does not have.
_OWN_OPTIONS = ("split_unknown", "map_quotes")


def read_tokenizer(folder: Path, model_type: ModelType) -> tuple[str, dict[str, Any]]:
    """Return the kind of a Hugging Face folder's tokenizer and its class's arguments.

    Raises:
        FileNotFoundError: if the folder holds no tokenizer.
        ValueError: if a file is damaged or kerazoo does not have the tokenizer.
    """
    if model_type.family == BERT.family:
        return WORDPIECE, huggingface_tokenizer.read_huggingface_tokenizer(folder)
    return huggingface_bpe_tokenizer.read_bpe_tokenizer(folder)


def new_tokenizer(kind: str, settings: Mapping[str, Any]) -> Any:
    """Return a tokenizer of a kind, made with these arguments."""
    module, class_name, _ = _KINDS[kind]
    return getattr(importlib.import_module(module), class_name)(**settings)


def title_of_kind(kind: str) -> str:
    """Return a kind's name for people."""
    return _KINDS[kind][2]


def title_of_class(class_name: str) -> str:
    """Return the name for people of what a class of tokenizers does; else the class's name."""
    titles = {name: title for _, name, title in _KINDS.values()}
    return titles.get(class_name, class_name)


def kind_and_settings(tokenizer: Any) -> tuple[str, dict[str, Any]]:
    """Return the kind of a tokenizer and the arguments that it was made with.

    Args:
        tokenizer: a kerazoo tokenizer, or a dict of the arguments of a `WordPieceTokenizer`.

    Raises:
        ValueError: for a tokenizer of another project.
    """
    if isinstance(tokenizer, Mapping):
        return WORDPIECE, dict(tokenizer)
    kinds = [kind for kind, (_, name, _) in _KINDS.items() if name == type(tokenizer).__name__]
    if not kinds:
        raise ValueError(
            "kerazoo writes its own tokenizers only. "
            f"Received: tokenizer={type(tokenizer).__name__}"
        )
    if kinds == [WORDPIECE]:
        _say_own_options(tokenizer)
        settings = {name: getattr(tokenizer, name) for name in _WORDPIECE_ARGUMENTS}
        return WORDPIECE, {"vocabulary": list(tokenizer.get_vocabulary()), **settings}
    return kinds[0], _bpe_settings(tokenizer)


def _bpe_settings(tokenizer: Any) -> dict[str, Any]:
    """Return the arguments of a BPE tokenizer; its vocabulary is a dict of tokens and ids."""
    arguments = inspect.signature(type(tokenizer).__init__).parameters
    settings = {key: value for key, value in tokenizer.get_config().items() if key in arguments}
    entries = tokenizer.get_vocabulary()
    # Task tokens follow from the option; "$" is an entry of its own beside.
    entries = entries[:-TASK_TOKENS] if settings["task_tokens"] else entries
    settings["vocabulary"] = {entry: number for number, entry in enumerate(entries)}
    settings["merges"] = tokenizer.get_merges()
    return settings


def _say_own_options(tokenizer: Any) -> None:
    for option in _OWN_OPTIONS:
        if getattr(tokenizer, option, False):
            warnings.warn(
                f"Hugging Face's tokenizer has no option {option!r}; on texts where it matters "
                "the written tokenizer gives other ids.",
                stacklevel=4,
            )


def special_token_ids(tokenizer: Any) -> dict[str, int | None]:
    """Return what a model's `config.json` says of its tokenizer.

    Args:
        tokenizer: as for `kind_and_settings`.
    """
    if isinstance(tokenizer, Mapping):
        return {"pad_token_id": list(tokenizer["vocabulary"]).index(tokenizer["pad_token"])}
    ids: dict[str, int | None] = {"pad_token_id": tokenizer.pad_token_id}
    if hasattr(tokenizer, "end_token_id"):
        ids["bos_token_id"] = tokenizer.start_token_id
        ids["eos_token_id"] = tokenizer.end_token_id
    return ids


def tokenizer_files(kind: str, settings: Mapping[str, Any], max_length: int) -> dict[str, str]:
    """Return the contents of the files that Hugging Face's libraries read, by file name.

    Args:
        kind: from `kind_and_settings`.
        settings: likewise.
        max_length: the most positions that the model has.
    """
    if kind == WORDPIECE:
        return huggingface_tokenizer.tokenizer_files(settings, max_length)
    return huggingface_bpe_tokenizer.bpe_tokenizer_files(kind, dict(settings), max_length)
