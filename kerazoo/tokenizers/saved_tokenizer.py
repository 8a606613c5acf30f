"""The tokenizer of a preset, also of one that KerasHub wrote."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import keras_nlp

from kerazoo.tokenizers.base import Tokenizer
from kerazoo.tokenizers.wordpiece import WordPieceTokenizer

_CONTINUATION = "##"
_SHARED_OPTIONS = (
    *("lowercase", "strip_accents", "split_on_cjk", "special_tokens_in_strings"),
    *("oov_token", "cls_token", "sep_token", "pad_token", "mask_token"),
)


def saved_tokenizer(saved: Mapping[str, Any], folder: Path) -> Tokenizer:
    """Return the tokenizer of a preset; one of KerasHub's for BERT becomes a `WordPieceTokenizer`.

    KerasHub's tokenizers do not say where their tokens stand in a text, and cut texts in one way
    when eager and in another one in a graph. Vocabulary and options are kept as they were saved.

    Args:
        saved: what its `tokenizer.json` holds, or `preprocessor.json`, which has one within.
        folder: the preset.

    Raises:
        ValueError: if it is a tokenizer that kerazoo cannot take over.
    """
    config = saved["config"].get("tokenizer", saved)
    tokenizer = keras.saving.deserialize_keras_object(config)
    tokenizer.load_preset_assets(str(folder))
    return tokenizer if isinstance(tokenizer, Tokenizer) else _taken_over(tokenizer, folder)


def _taken_over(tokenizer: Any, folder: Path) -> WordPieceTokenizer:
    """Return a tokenizer of KerasHub as one of kerazoo's, or raise ValueError."""
    is_wordpiece = isinstance(tokenizer, keras_nlp.tokenizers.WordPieceTokenizer)
    if (
        not is_wordpiece
        or not tokenizer.split
        or tokenizer.suffix_indicator != _CONTINUATION
        or not all(hasattr(tokenizer, name) for name in _SHARED_OPTIONS)
    ):
        raise ValueError(
            f"{folder} has a tokenizer of KerasHub, of which kerazoo, which has to know where "
            "tokens stand in a text, can take over BERT's alone. Begin with a Hugging Face folder, "
            f"or pass `preprocessor` in Python. Received: tokenizer={type(tokenizer).__name__}"
        )
    options = {name: getattr(tokenizer, name) for name in _SHARED_OPTIONS}
    return WordPieceTokenizer(tokenizer.get_vocabulary(), **options)
