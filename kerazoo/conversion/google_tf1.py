"""Google's TF1 BERT checkpoints: `bert_model.ckpt`, `bert_config.json` and `vocab.txt`."""

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from kerazoo import axes
from kerazoo.conversion.bert_names import GOOGLE_BACKBONE, GOOGLE_HEADS, GOOGLE_PREFIX
from kerazoo.conversion.huggingface_config import config_fields
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.loading import Checkpoint
from kerazoo.conversion.model_types import BERT, BERT_PRETRAINING, MASKED_LM
from kerazoo.conversion.stored_tensor import StoredTensor
from kerazoo.tokenizers.vocabulary_file import read_vocabulary

CONFIG_FILE = "bert_config.json"
VOCABULARY_FILE = "vocab.txt"

# What the optimizer of the training run left in the checkpoint.
_OPTIMIZER_STATE = re.compile(
    r"(/adam_[mv]|/Adam(_1)?|/lamb_[mv])$|^(global_step|beta[12]_power|good_steps|"
    r"(current_)?loss_scale)$"
)
# Shares of tokens with an upper-case letter: about 40 % in cased vocabularies, 0 in others.
_CASED_SHARE = 0.01


def find_google_checkpoint(folder: Path) -> Path | None:
    """Return the checkpoint in a folder without the ending `.index`; None if there is none.

    `bert_model.ckpt` is preferred; otherwise the one with the highest step, `model.ckpt-1200`.
    """
    found = [path.with_suffix("") for path in folder.glob("*.ckpt*.index")]
    return max(found, key=_preference, default=None)


def _preference(path: Path) -> tuple[bool, int, str]:
    step = re.search(r"\.ckpt-(\d+)$", path.name)
    return (path.name == "bert_model.ckpt", int(step.group(1)) if step else -1, path.name)


def read_google_config(folder: Path) -> dict[str, Any]:
    """Return the fields of `BertConfig` that `bert_config.json` asks for.

    Raises:
        FileNotFoundError: if there is no `bert_config.json`.
        ValueError: if a value is not what kerazoo's BERT computes.
    """
    path = folder / CONFIG_FILE
    return config_fields(read_json_object(path), path, BERT.config)


def read_google_tokenizer(folder: Path) -> dict[str, Any]:
    """Return the arguments of `WordPieceTokenizer` for a Google folder.

    The files do not say whether text is lower-cased. Google tells by the folder's name
    (`uncased_…` and `chinese_…` are, `cased_…` and `multi_cased_…` are not); under another name
    the vocabulary tells: one that holds upper-case letters is cased.

    Raises:
        FileNotFoundError: if there is no `vocab.txt`.
    """
    path = folder / VOCABULARY_FILE
    if not path.is_file():
        raise FileNotFoundError(f"{folder} holds no tokenizer. Expected {VOCABULARY_FILE}.")
    vocabulary = read_vocabulary(path)
    return {"vocabulary": vocabulary, "lowercase": _is_lower_case(folder.name, vocabulary)}


def _is_lower_case(name: str, vocabulary: list[str]) -> bool:
    if name.startswith(("uncased_", "multilingual_", "chinese_", "wwm_uncased_")):
        return True
    if name.startswith(("cased_", "multi_cased_", "wwm_cased_")):
        return False
    special = re.compile(r"\[.*\]")
    upper = sum(t != t.lower() and special.fullmatch(t) is None for t in vocabulary)
    return upper < _CASED_SHARE * len(vocabulary)


def read_google_task(folder: Path) -> str | None:
    """Return the name of the task whose heads a checkpoint holds; None if it holds no known ones.

    Google's releases hold both heads of pre-training.

    Raises:
        ValueError: if the checkpoint is damaged.
    """
    path = find_google_checkpoint(folder)
    if path is None:
        return None
    heads = map(GOOGLE_HEADS.to_targets, _open_reader(path).get_variable_to_shape_map())
    found = {target.split("/")[0] for targets in heads for target in targets}
    if axes.MASKED_LM not in found:
        return None
    return BERT_PRETRAINING if axes.NEXT_SENTENCE in found else MASKED_LM


def open_google_tf1(folder: Path) -> Checkpoint:
    """Open the weights of a Google TF1 checkpoint; the optimizer's state is left out.

    Raises:
        FileNotFoundError: if there is no checkpoint in the folder.
        ValueError: if it is damaged.
    """
    path = find_google_checkpoint(folder)
    if path is None:
        raise FileNotFoundError(
            f"{folder} holds no TF1 checkpoint. Expected bert_model.ckpt.index."
        )
    reader = _open_reader(path)
    tensors = {}
    for name, shape in sorted(reader.get_variable_to_shape_map().items()):
        if _OPTIMIZER_STATE.search(name) is None:
            load = partial(_read, reader, name, path)
            tensors[name.removeprefix(GOOGLE_PREFIX)] = StoredTensor(name, tuple(shape), path, load)
    return Checkpoint(folder, tensors, GOOGLE_BACKBONE, GOOGLE_HEADS)


def _open_reader(path: Path) -> Any:
    import tensorflow as tf  # heavy, and only this format needs it

    try:
        return tf.train.load_checkpoint(str(path))
    except (tf.errors.OpError, ValueError, RuntimeError) as error:
        raise ValueError(_damaged(path)) from error


def _read(reader: Any, name: str, path: Path) -> np.ndarray:
    try:
        return np.asarray(reader.get_tensor(name))
    except Exception as error:  # TensorFlow raises many kinds for a short or damaged file
        raise ValueError(_damaged(path)) from error


def _damaged(path: Path) -> str:
    return (
        f"{path} is truncated, damaged, or one of its files ({path.name}.data-…) is missing. "
        "Download or unpack it again."
    )
