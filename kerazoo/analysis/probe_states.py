"""The states of every layer that stand for words or for texts, computed once and kept on disk."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import keras
import numpy as np

from kerazoo.analysis.analysed_model import AnalysedModel
from kerazoo.analysis.layer_stream import layer_stream
from kerazoo.analysis.packed_texts import NO_CHARACTER, PackedTexts, pack_texts
from kerazoo.analysis.probe_data import TOKEN, ProbeData
from kerazoo.checks import check_one_of
from kerazoo.conversion.new_folder import new_folder
from kerazoo.training.progress import SILENT, Progress

FIRST, MEAN, LAST = "first", "mean", "last"
POOLINGS = (FIRST, MEAN, LAST)
_FORMAT = 2
_SEPARATOR = " "
_STATES, _ROWS, _WORDS = "states.npy", "rows.npy", "words.npy"

Span = tuple[int, np.ndarray, np.ndarray]
"""A row of a batch, positions of it in ascending order, and what each of them belongs to."""


@dataclass(frozen=True)
class ProbeStates:
    """The states of what is labelled.

    Args:
        states: (layers + 1, examples, hidden) float32; state 0 is the embedding output.
        rows: (examples,) int64, the sentence or text that each belongs to; what has no token has
            no state.
        words: (examples,) int64, which word of its sentence it is; 0 for texts.
    """

    states: np.ndarray
    rows: np.ndarray
    words: np.ndarray


@dataclass(frozen=True)
class StateSettings:
    """How states are taken.

    Args:
        pooling: which of its tokens' states stands for a word or a text: the "first" (of a text
            `[CLS]`), the "mean", or the "last".
        sequence_length: int, the most tokens of a row; what lies behind is cut.
    """

    pooling: str
    sequence_length: int

    def __post_init__(self) -> None:
        """Check the word."""
        check_one_of("pooling", self.pooling, POOLINGS)


def probe_states(
    model: AnalysedModel,
    data: ProbeData,
    settings: StateSettings,
    cache: str | Path,
    batch_size: int = 16,
    progress: Progress = SILENT,
) -> ProbeStates:
    """Return the states of all words or texts, from the cache if they are there.

    They stay on disk and are read when they are looked at, so there may be more than fit into
    memory. The name of a cached folder changes with the weights, the tokenizer, the texts and the
    settings.

    Args:
        model: the backbone and its tokenizer.
        data: what is labelled; the labels do not matter here.
        settings: how states are taken.
        cache: the folder of the cache; it is created if it does not exist.
        batch_size: int, rows computed together.
        progress: where to show how many were computed.
    """
    folder = Path(cache) / f"states-{states_key(model, data, settings)}"
    if not folder.exists():
        with new_folder(folder) as temporary:
            _write(temporary, model, data, settings, batch_size, progress)
    rows, words = np.load(folder / _ROWS), np.load(folder / _WORDS)
    states = np.load(folder / _STATES, mmap_mode="r")[:, : len(rows)]
    return ProbeStates(states, rows, words)


def states_key(model: AnalysedModel, data: ProbeData, settings: StateSettings) -> str:
    """Return a key that differs for other weights, another tokenizer, other texts or settings."""
    digest = hashlib.sha256()
    tokenizer: Any = model.tokenizer
    backbone = model.backbone
    described = [
        _FORMAT,
        type(backbone).__name__,
        asdict(backbone.config),
        str(backbone.dtype_policy.name),
        type(tokenizer).__name__,
        {key: str(value) for key, value in tokenizer.get_config().items() if key != "name"},
        tokenizer.get_vocabulary(),
        tokenizer.get_merges() if hasattr(tokenizer, "get_merges") else None,
        asdict(settings),
        data.level,
        data.rows,
    ]
    digest.update(json.dumps(described, sort_keys=True).encode("utf-8", "surrogatepass"))
    for variable in backbone.weights:
        array = np.ascontiguousarray(keras.ops.convert_to_numpy(variable.value))
        digest.update(f"{variable.path.split('/', 1)[-1]} {array.dtype} {array.shape}".encode())
        digest.update(array.view("uint8").data if array.ndim else array.tobytes())
    return digest.hexdigest()[:32]


def _write(
    folder: Path,
    model: AnalysedModel,
    data: ProbeData,
    settings: StateSettings,
    batch_size: int,
    progress: Progress,
) -> None:
    config = model.backbone.config
    most = sum(len(row) for row in data.labels)
    shape = (config.num_layers + 1, most, config.hidden_dim)
    states = np.lib.format.open_memmap(folder / _STATES, mode="w+", dtype="float32", shape=shape)
    places: list[tuple[int, int]] = []
    with progress.bar("computing states", total=len(data.rows)) as advance:
        for start in range(0, len(data.rows), batch_size):
            batch = data.rows[start : start + batch_size]
            packed = pack_texts(model, _texts(batch, data.level), settings.sequence_length)
            spans = list(_spans(packed, batch, data.level))
            begin = len(places)
            for row, _, words_of in spans:
                places += [(start + row, int(word)) for word in np.unique(words_of)]
            for layer, hidden in enumerate(_hidden_states(model, packed)):
                pooled = [_pooled(hidden[row, at], of, settings.pooling) for row, at, of in spans]
                states[layer, begin : len(places)] = np.concatenate(pooled)
            advance(len(batch), "")
    states.flush()
    rows, words = np.array(places, "int64").reshape(-1, 2).T
    np.save(folder / _ROWS, rows)
    np.save(folder / _WORDS, words)


def _hidden_states(model: AnalysedModel, packed: PackedTexts) -> Iterator[np.ndarray]:
    def computed() -> Iterator[Any]:
        yield from model.backbone.hidden_states(packed.inputs_of(model.backbone), model.run_block)

    return layer_stream(computed())


def _texts(rows: Sequence[tuple[str, ...]], level: str) -> list[tuple[str, ...]]:
    return [(_SEPARATOR.join(row),) for row in rows] if level == TOKEN else list(rows)


def _spans(packed: PackedTexts, rows: Sequence[tuple[str, ...]], level: str) -> Iterator[Span]:
    """Yield for each row its positions that stand for something, and for which word."""
    for row, (words, length) in enumerate(zip(rows, packed.lengths, strict=True)):
        if level != TOKEN:
            count = length if packed.without_tokens[row] is None else 0
            yield row, np.arange(count), np.zeros(count, "int64")
            continue
        starts, ends = packed.starts[row], packed.ends[row]
        positions = np.flatnonzero((starts != NO_CHARACTER) & (ends > starts))
        first = np.cumsum([0, *(len(word) + len(_SEPARATOR) for word in words[:-1])])
        yield row, positions, np.searchsorted(first, starts[positions], side="right") - 1


def _pooled(states: np.ndarray, belongs_to: np.ndarray, pooling: str) -> np.ndarray:
    """Return one state for each run of positions, (runs, hidden).

    Args:
        states: (positions, hidden) float.
        belongs_to: (positions,) int, in ascending order.
        pooling: one of `POOLINGS`.
    """
    _, first, count = np.unique(belongs_to, return_index=True, return_counts=True)
    if pooling == FIRST:
        return states[first]
    if pooling == LAST:
        return states[first + count - 1]
    if not len(first):
        return states[:0]
    return np.add.reduceat(states.astype("float32"), first, axis=0) / count[:, np.newaxis]
