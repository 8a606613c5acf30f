"""The WordPiece tokenizer of a Hugging Face folder as arguments of kerazoo's, and back."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.tokenizers.vocabulary_file import read_vocabulary

VOCABULARY_FILE = "vocab.txt"
TOKENIZER_FILE = "tokenizer.json"
TOKENIZER_CONFIG_FILE = "tokenizer_config.json"
SPECIAL_TOKENS_FILE = "special_tokens_map.json"
ADDED_TOKENS_FILE = "added_tokens.json"

_SPECIAL_TOKENS = {
    "oov_token": ("unk_token", "[UNK]"),
    "cls_token": ("cls_token", "[CLS]"),
    "sep_token": ("sep_token", "[SEP]"),
    "pad_token": ("pad_token", "[PAD]"),
    "mask_token": ("mask_token", "[MASK]"),
}
# kerazoo's argument: (tokenizer_config.json's, tokenizer.json's, the default of both).
_NORMALIZATION = {
    "lowercase": ("do_lower_case", "lowercase", True),
    "strip_accents": ("strip_accents", "strip_accents", None),
    "split_on_cjk": ("tokenize_chinese_chars", "handle_chinese_chars", True),
}
# Classes of transformers that are BERT's WordPiece, and that take all from tokenizer.json.
_BERT_CLASSES = frozenset(
    {"BertTokenizer", "BertTokenizerFast", "DistilBertTokenizer", "DistilBertTokenizerFast"}
)
_PLAIN_CLASSES = frozenset({"PreTrainedTokenizerFast", "TokenizersBackend"})


def read_huggingface_tokenizer(folder: Path) -> dict[str, Any]:
    """Return the arguments of `WordPieceTokenizer` that a Hugging Face folder asks for.

    `tokenizer_config.json` wins over `tokenizer.json`, as in transformers; what neither says is
    BERT's default (lower case, accents follow it, Han characters apart).

    Raises:
        FileNotFoundError: if there is neither `vocab.txt` nor `tokenizer.json`.
        ValueError: if a file is damaged or the tokenizer is not BERT's WordPiece.
    """
    config = read_optional(folder / TOKENIZER_CONFIG_FILE)
    whole = read_optional(folder / TOKENIZER_FILE)
    specials = {**read_optional(folder / SPECIAL_TOKENS_FILE), **config}
    normalizer = _normalizer(whole, folder / TOKENIZER_FILE) if whole else {}
    _check_class(config.get("tokenizer_class"), bool(whole), folder / TOKENIZER_CONFIG_FILE)
    if whole and config.get("tokenizer_class") in _PLAIN_CLASSES:
        config = {key: value for key, value in config.items() if key == "added_tokens_decoder"}
    settings: dict[str, Any] = {"vocabulary": _vocabulary(folder, whole, config)}
    for argument, (key, whole_key, default) in _NORMALIZATION.items():
        settings[argument] = config.get(key, normalizer.get(whole_key, default))
    for argument, (key, default_token) in _SPECIAL_TOKENS.items():
        settings[argument] = token_text(specials.get(key)) or default_token
    limit = whole.get("model", {}).get("max_input_chars_per_word")
    if limit is not None:
        settings["max_characters_per_word"] = int(limit)
    return settings


def check_vocabulary_fits(vocabulary: list[str], rows: int, folder: Path) -> None:
    """Raise ValueError if there are more tokens than rows in the embedding matrix."""
    if len(vocabulary) > rows:
        raise ValueError(
            f"The vocabulary in {folder} is larger than the model's embedding matrix; they belong "
            f"to different models. Received: {len(vocabulary)} tokens, vocab_size={rows}"
        )


def read_optional(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, {} if there is no such file."""
    return read_json_object(path) if path.is_file() else {}


def token_text(token: Any) -> str | None:
    """Return the string of a token that may be written as an object."""
    return token.get("content") if isinstance(token, dict) else token


def _check_class(name: str | None, has_whole: bool, path: Path) -> None:
    """Raise if another tokenizer than WordPiece stands before the vocabulary."""
    if name is not None and name not in _BERT_CLASSES and not has_whole:
        raise ValueError(
            f"{path} asks for a tokenizer that kerazoo does not have; it reads BertTokenizer. "
            f"Received: tokenizer_class={name!r}"
        )


def _normalizer(whole: Mapping[str, Any], path: Path) -> dict[str, Any]:
    """Return the settings of BERT's normalizer in `tokenizer.json`."""
    kind = (whole.get("model") or {}).get("type", "WordPiece")
    prefix = (whole.get("model") or {}).get("continuing_subword_prefix", "##")
    if kind != "WordPiece" or prefix != "##":
        raise ValueError(
            f"{path}: kerazoo's BERT reads WordPiece vocabularies whose pieces begin with '##'. "
            f"Received: type={kind!r}, continuing_subword_prefix={prefix!r}"
        )
    normalizer = whole.get("normalizer") or {}
    words = whole.get("pre_tokenizer") or {}
    found = (normalizer.get("type"), words.get("type"), normalizer.get("clean_text"))
    if found != ("BertNormalizer", "BertPreTokenizer", True):
        raise ValueError(
            f"{path}: kerazoo's BERT reads tokenizers with BERT's normalizer (which cleans the "
            f"text) and BERT's pre-tokenizer only. Received: normalizer={found[0]!r}, "
            f"pre_tokenizer={found[1]!r}, clean_text={found[2]!r}"
        )
    return dict(normalizer)


def _vocabulary(folder: Path, whole: Mapping[str, Any], config: Mapping[str, Any]) -> list[str]:
    """Return the tokens in the order of their ids, those that were added last."""
    path = folder / VOCABULARY_FILE
    if whole.get("model", {}).get("vocab"):
        path = folder / TOKENIZER_FILE
        by_id = {int(number): token for token, number in whole["model"]["vocab"].items()}
    elif path.is_file():
        by_id = dict(enumerate(read_vocabulary(path)))
    else:
        raise FileNotFoundError(
            f"{folder} holds no tokenizer. Expected {VOCABULARY_FILE} or {TOKENIZER_FILE}."
        )
    return in_id_order_with_added_tokens(by_id, path, whole, config)


def in_id_order_with_added_tokens(
    by_id: dict[int, Any], path: Path, whole: Mapping[str, Any], config: Mapping[str, Any]
) -> list[str]:
    """Return the tokens in the order of their ids, those that were added included.

    Args:
        by_id: the tokens of the vocabulary.
        path: the file that they come from.
        whole: the contents of `tokenizer.json`, {} if there is none.
        config: the contents of `tokenizer_config.json`, likewise.
    """
    for token in whole.get("added_tokens") or ():
        by_id.setdefault(int(token["id"]), token["content"])
    for number, token in (config.get("added_tokens_decoder") or {}).items():
        by_id.setdefault(int(number), token_text(token))
    for token, number in read_optional(path.parent / ADDED_TOKENS_FILE).items():
        by_id.setdefault(int(number), token)
    if sorted(by_id) != list(range(len(by_id))):
        raise ValueError(f"{path}: the ids of the vocabulary have a gap; every id needs a token.")
    return [by_id[number] for number in range(len(by_id))]


def tokenizer_files(settings: Mapping[str, Any], max_length: int) -> dict[str, str]:
    """Return the contents of the files that Hugging Face's libraries read, by file name.

    Args:
        settings: the arguments of `WordPieceTokenizer`; `vocabulary` is a list of tokens.
        max_length: the most positions that the model has.
    """
    vocabulary = list(settings["vocabulary"])
    specials = {key: settings[argument] for argument, (key, _) in _SPECIAL_TOKENS.items()}
    config = {
        "tokenizer_class": "BertTokenizer",
        **{key: settings[argument] for argument, (key, _, _) in _NORMALIZATION.items()},
        **specials,
        "model_max_length": max_length,
    }
    return {
        VOCABULARY_FILE: "".join(f"{token}\n" for token in vocabulary),
        TOKENIZER_CONFIG_FILE: as_json(config),
        SPECIAL_TOKENS_FILE: as_json(specials),
        TOKENIZER_FILE: as_json(_whole_tokenizer(settings, vocabulary, specials)),
    }


def _whole_tokenizer(
    settings: Mapping[str, Any], vocabulary: list[str], specials: Mapping[str, str]
) -> dict[str, Any]:
    """Return the contents of `tokenizer.json`, which the `tokenizers` library reads."""
    ids = {token: number for number, token in enumerate(vocabulary)}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    cls, sep = specials["cls_token"], specials["sep_token"]
    normalization = {key: settings[argument] for argument, (_, key, _) in _NORMALIZATION.items()}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": token, **flags, "special": True}
            for number, token in sorted((ids[token], token) for token in set(specials.values()))
        ],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, **normalization},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [_special(cls, 0), _sequence("A", 0), _special(sep, 0)],
            "pair": [
                *(_special(cls, 0), _sequence("A", 0), _special(sep, 0)),
                *(_sequence("B", 1), _special(sep, 1)),
            ],
            "special_tokens": {
                token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (cls, sep)
            },
        },
        "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": specials["unk_token"],
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": settings.get("max_characters_per_word", 100),
            "vocab": ids,
        },
    }


def _special(token: str, segment: int) -> dict[str, Any]:
    return {"SpecialToken": {"id": token, "type_id": segment}}


def _sequence(name: str, segment: int) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": segment}}


def as_json(content: Mapping[str, Any]) -> str:
    """Return the text of a JSON file."""
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"
