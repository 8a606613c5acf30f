"""The BPE tokenizer of a Hugging Face folder as arguments of kerazoo's, and back."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerazoo.conversion.huggingface_tokenizer import (
    SPECIAL_TOKENS_FILE,
    TOKENIZER_CONFIG_FILE,
    TOKENIZER_FILE,
    as_json,
    in_id_order_with_added_tokens,
    read_optional,
    token_text,
)
from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary, read_entries, read_merges
from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS

BYTE_BPE = "byte_bpe"
GPT_BPE = "gpt_bpe"
VOCABULARY_FILE = "vocab.json"
MERGES_FILE = "merges.txt"

_END_OF_TEXT = "<|endoftext|>"
_END_OF_WORD = "</w>"
_KIND_OF_CLASS = {
    "GPT2Tokenizer": BYTE_BPE,
    "GPT2TokenizerFast": BYTE_BPE,
    "OpenAIGPTTokenizer": GPT_BPE,
    "OpenAIGPTTokenizerFast": GPT_BPE,
}
# Classes of transformers that take all from tokenizer.json.
_PLAIN_CLASSES = frozenset({"PreTrainedTokenizerFast", "TokenizersBackend", None})
_SPECIAL_TOKENS = {
    "end_token": "eos_token",
    "start_token": "bos_token",
    "pad_token": "pad_token",
    "unk_token": "unk_token",
}
_TASK_TOKENS = "task_tokens"


def read_bpe_tokenizer(folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the kind of a folder's BPE tokenizer and its class's arguments.

    Args:
        folder: a Hugging Face folder with `tokenizer.json`, or `vocab.json` and `merges.txt`.

    Returns:
        "byte_bpe" and the arguments of `ByteBPETokenizer`, or "gpt_bpe" and those of
        `GPTBPETokenizer`; `vocabulary` is a dict of tokens and ids, `merges` a list of pairs.

    Raises:
        FileNotFoundError: if the folder lacks a file.
        ValueError: if a file is damaged or the tokenizer is another one.
    """
    config = read_optional(folder / TOKENIZER_CONFIG_FILE)
    whole = read_optional(folder / TOKENIZER_FILE)
    specials = {**read_optional(folder / SPECIAL_TOKENS_FILE), **config}
    model = whole.get("model") or {}
    if whole:
        _check_model(model, folder / TOKENIZER_FILE)
    entries = _entries(folder, whole, config)
    kind = _kind(config, whole, entries, folder)
    merges = model.get("merges")
    settings: dict[str, Any] = {
        "vocabulary": {entry: number for number, entry in enumerate(entries)},
        "merges": read_merges(folder / MERGES_FILE if merges is None else merges),
        **_special_tokens(kind, specials, entries, model),
        _TASK_TOKENS: bool(config.get(_TASK_TOKENS, False)),
    }
    if kind == GPT_BPE:
        normalizer = (whole.get("normalizer") or {}) if _is_plain(config) else {}
        settings["lowercase"] = normalizer.get("lowercase", True)
        settings["strip_accents"] = normalizer.get("strip_accents")
    return kind, settings


def bpe_tokenizer_files(kind: str, settings: Mapping[str, Any], max_length: int) -> dict[str, str]:
    """Return the contents of the files that Hugging Face's libraries read, by file name.

    Task tokens are noted in `tokenizer_config.json` for kerazoo. Hugging Face's tokenizers do not
    have them: a "$" of theirs would also match every "$" in a text.

    Args:
        kind: "byte_bpe" or "gpt_bpe".
        settings: the arguments of the tokenizer's class.
        max_length: the most positions that the model has.
    """
    vocabulary = BPEVocabulary(settings["vocabulary"], settings["merges"])
    specials = {key: settings.get(name) for name, key in _SPECIAL_TOKENS.items()}
    if kind == BYTE_BPE:
        specials["unk_token"] = specials["eos_token"]
    config: dict[str, Any] = {
        "tokenizer_class": _class_name(kind, settings),
        "model_max_length": max_length,
        **specials,
    }
    if kind == BYTE_BPE:
        config["add_prefix_space"] = False
    if settings.get(_TASK_TOKENS):
        config[_TASK_TOKENS] = True
    entries, merges = vocabulary.file_contents()
    return {
        VOCABULARY_FILE: entries,
        MERGES_FILE: merges,
        TOKENIZER_CONFIG_FILE: as_json(config),
        SPECIAL_TOKENS_FILE: as_json({k: token for k, token in specials.items() if token}),
        TOKENIZER_FILE: as_json(_whole_tokenizer(kind, settings, vocabulary, specials)),
    }


def _entries(folder: Path, whole: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """Return the tokens in the order of their ids, those that were added last."""
    path = folder / VOCABULARY_FILE
    ids = (whole.get("model") or {}).get("vocab")
    if ids:
        path = folder / TOKENIZER_FILE
    elif path.is_file():
        ids = {entry: number for number, entry in enumerate(read_entries(path))}
    else:
        raise FileNotFoundError(
            f"{folder} holds no tokenizer. Expected {VOCABULARY_FILE} and {MERGES_FILE}, or "
            f"{TOKENIZER_FILE}."
        )
    by_id = {int(number): entry for entry, number in ids.items()}
    return in_id_order_with_added_tokens(by_id, path, whole, config)


def _check_model(model: Mapping[str, Any], path: Path) -> None:
    """Raise ValueError for options of the model that kerazoo does not have."""
    kind = model.get("type", "BPE")
    unlike = [
        f"{key}={model[key]!r}"
        for key in ("dropout", "continuing_subword_prefix", "fuse_unk", "byte_fallback")
        if model.get(key)
    ]
    if model.get("ignore_merges"):
        unlike.append(f"ignore_merges={model['ignore_merges']!r}")
    if kind != "BPE" or unlike:
        raise ValueError(
            f"{path}: kerazoo's GPT tokenizers are BPE without dropout, prefixes of pieces, joined "
            "unknowns, fallback to bytes and whole words before merges. "
            f"Received: {', '.join([f'type={kind!r}', *unlike])}"
        )


def _is_plain(config: Mapping[str, Any]) -> bool:
    return config.get("tokenizer_class") in _PLAIN_CLASSES


def _kind(
    config: Mapping[str, Any], whole: Mapping[str, Any], entries: list[str], folder: Path
) -> str:
    """Return the kind of tokenizer, by its class, its steps or its alphabet."""
    name = config.get("tokenizer_class")
    if name not in _KIND_OF_CLASS and name not in _PLAIN_CLASSES:
        raise ValueError(
            f"{folder / TOKENIZER_CONFIG_FILE} asks for a tokenizer that kerazoo does not have; it "
            f"reads GPT2Tokenizer and OpenAIGPTTokenizer. Received: tokenizer_class={name!r}"
        )
    if name in _KIND_OF_CLASS:
        kind = _KIND_OF_CLASS[name]
    elif whole:
        kind = _kind_of_steps(whole, folder / TOKENIZER_FILE)
    else:
        kind = BYTE_BPE if set(BYTE_CHARACTERS) <= set(entries) else GPT_BPE
    steps = (whole.get("pre_tokenizer") or {}) if _is_plain(config) else config
    if kind == BYTE_BPE and steps.get("add_prefix_space", False):
        raise ValueError(
            f"{folder}: kerazoo's byte-level tokenizer does not put a space before a text, as this "
            "one does. Received: add_prefix_space=True"
        )
    return kind


def _kind_of_steps(whole: Mapping[str, Any], path: Path) -> str:
    normalizer = whole.get("normalizer") or {}
    words = whole.get("pre_tokenizer") or {}
    suffix = (whole.get("model") or {}).get("end_of_word_suffix") or ""
    found = (normalizer.get("type"), words.get("type"), suffix)
    if found == (None, "ByteLevel", "") and words.get("use_regex", True):
        return BYTE_BPE
    if (
        found == ("BertNormalizer", "BertPreTokenizer", _END_OF_WORD)
        and normalizer.get("clean_text", True)
        and normalizer.get("handle_chinese_chars", True)
    ):
        return GPT_BPE
    raise ValueError(
        f"{path}: kerazoo reads GPT-2's tokenizer (ByteLevel with its pattern, no normalizer) and "
        "GPT-1's (BertNormalizer, BertPreTokenizer, end-of-word suffix </w>). "
        f"Received: normalizer={found[0]!r}, pre_tokenizer={found[1]!r}, "
        f"end_of_word_suffix={found[2]!r}"
    )


def _special_tokens(
    kind: str, specials: Mapping[str, Any], entries: list[str], model: Mapping[str, Any]
) -> dict[str, str | None]:
    defaults: dict[str, str | None] = {}
    if kind == BYTE_BPE:
        end_of_text = _END_OF_TEXT if _END_OF_TEXT in entries else None
        defaults = {"eos_token": end_of_text, "bos_token": end_of_text}
    found = {
        name: token_text(specials.get(key, defaults.get(key)))
        for name, key in _SPECIAL_TOKENS.items()
    }
    if kind == BYTE_BPE:
        del found["unk_token"]  # nothing is unknown
    else:
        found["unk_token"] = found["unk_token"] or model.get("unk_token") or "<unk>"
    return found


def _class_name(kind: str, settings: Mapping[str, Any]) -> str:
    """Return the class of transformers that makes this tokenizer of the files."""
    if kind == BYTE_BPE:
        return "GPT2Tokenizer"
    is_gpt = settings.get("lowercase", True) and settings.get("strip_accents") in (None, True)
    return "OpenAIGPTTokenizer" if is_gpt else "PreTrainedTokenizerFast"


def _whole_tokenizer(
    kind: str,
    settings: Mapping[str, Any],
    vocabulary: BPEVocabulary,
    specials: Mapping[str, str | None],
) -> dict[str, Any]:
    """Return the contents of `tokenizer.json`, which the `tokenizers` library reads."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    special_ids = sorted(
        (vocabulary.ids[token], token) for token in set(specials.values()) if token
    )
    is_bytes = kind == BYTE_BPE
    byte_level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": False,
        "use_regex": True,
    }
    bert = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": True,
        "strip_accents": settings.get("strip_accents"),
        "lowercase": settings.get("lowercase", True),
    }
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": token, **flags, "special": True}
            for number, token in special_ids
        ],
        "normalizer": None if is_bytes else bert,
        "pre_tokenizer": byte_level if is_bytes else {"type": "BertPreTokenizer"},
        "post_processor": byte_level if is_bytes else None,
        "decoder": byte_level if is_bytes else {"type": "BPEDecoder", "suffix": _END_OF_WORD},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None if is_bytes else specials["unk_token"],
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "" if is_bytes else _END_OF_WORD,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": vocabulary.ids,
            "merges": [f"{left} {right}" for left, right in vocabulary.merges],
        },
    }
