"""What every head of a model looks at, measured over a corpus."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from kerazoo.analysis.analysed_model import AnalysedModel
from kerazoo.analysis.attention import attention_of, row_limit
from kerazoo.analysis.head_measures import MEASURES, TokenRoles, head_measures
from kerazoo.analysis.packed_texts import pack_texts, text_rows
from kerazoo.analysis.running_mean import RunningMean
from kerazoo.axes import TEXT, TEXT_PAIR
from kerazoo.checks import check_positive
from kerazoo.conversion.new_file import new_file
from kerazoo.data.read_table import read_rows
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.training.progress import SILENT, Progress

CONFIDENCE = 0.95


@dataclass(frozen=True)
class HeadPatterns:
    """Measures of every head; a text counts once, however long it is.

    Layers and heads are numbered from 1 in tables and plots, so that layer 1 is the first one
    after the embeddings, and from 0 in the arrays. Intervals are 95 % intervals over texts.

    Args:
        mean: (layers, heads, measures) float64; NaN where a measure means nothing.
        half_width: (layers, heads, measures) float64, half of the confidence interval.
        layer_mean: (layers, measures) float64, means over the heads of a layer.
        layer_half_width: (layers, measures) float64, half of their confidence intervals.
        texts: int, how many texts, or pairs, were measured.
        truncated: int, how many of them were cut.
        empty: int, how many were left out because they were empty, or had no token.
        measures: the names of the last axis; `kerazoo.analysis.head_measures` defines them.
    """

    mean: np.ndarray
    half_width: np.ndarray
    layer_mean: np.ndarray
    layer_half_width: np.ndarray
    texts: int
    truncated: int = 0
    empty: int = 0
    measures: tuple[str, ...] = MEASURES

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a dict for each head: `layer`, `head`, each measure and its interval.

        `<measure>_low` and `<measure>_high` are the ends of the interval; None stands for NaN.
        """
        for layer, heads in enumerate(self.mean):
            for head in range(len(heads)):
                yield {
                    "layer": layer + 1,
                    "head": head + 1,
                    **self._values(self.mean[layer, head], self.half_width[layer, head]),
                }

    def layer_rows(self) -> Iterator[dict[str, Any]]:
        """Yield the same for each layer: `layer`, each measure and its interval."""
        for layer, mean in enumerate(self.layer_mean):
            yield {"layer": layer + 1, **self._values(mean, self.layer_half_width[layer])}

    def as_dict(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        return {
            "texts": self.texts,
            "truncated": self.truncated,
            "empty": self.empty,
            "confidence": CONFIDENCE,
            "layers": list(self.layer_rows()),
            "heads": list(self.rows()),
        }

    def write_table(self, path: str | Path) -> None:
        """Write a row a head as CSV, or everything as JSON; the ending of the name decides.

        Raises:
            FileExistsError: if there is something at the path already.
            ValueError: for another ending, before anything is written.
        """
        check_table_path(path)
        with new_file(path) as file:
            if str(path).lower().endswith(".json"):
                file.write_text(json.dumps(self.as_dict(), indent=1) + "\n", encoding="utf-8")
                return
            with file.open("w", newline="", encoding="utf-8") as stream:
                rows = list(self.rows())
                writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)

    def _values(self, means: np.ndarray, half_widths: np.ndarray) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, mean, half in zip(self.measures, means, half_widths, strict=True):
            values[name] = _number(mean)
            values[f"{name}_low"] = _number(mean - half)
            values[f"{name}_high"] = _number(mean + half)
        return values


def head_patterns(
    model: Any,
    texts: Any,
    tokenizer: Tokenizer | None = None,
    batch_size: int = 16,
    sequence_length: int = 128,
    max_texts: int | None = None,
    progress: Progress = SILENT,
) -> HeadPatterns:
    """Measure what every head of a model looks at, over texts or a corpus.

    The corpus may be of any size: a batch of one layer's attention is in memory at a time.

    Args:
        model: a task or a backbone of kerazoo, or the folder or handle of one.
        texts: a file (`pathlib.Path`) of texts or pairs (.txt, .tsv, .csv, .jsonl), or texts as for
            `attention_maps`.
        tokenizer: the tokenizer of a backbone; None is the task's or the folder's own.
        batch_size: int, texts computed together.
        sequence_length: int, the most tokens of a text; longer ones are cut and counted, and a
            model that reads less cuts them earlier.
        max_texts: int, measure the first ones only; None is all.
        progress: where to show how many were measured.

    Raises:
        ValueError: if there is no text, or the model cannot be looked into.

    Example:
        patterns = kerazoo.analysis.head_patterns("path/to/bert", Path("corpus.txt"))
        patterns.write_table("heads.csv")
    """
    check_positive("batch_size", batch_size)
    analysed = AnalysedModel.of(model, tokenizer)
    limit = row_limit(analysed, min(analysed.limit, sequence_length))
    counts = {"truncated": 0, "empty": 0}
    rows = _not_empty(_rows_of(texts), counts)
    rows = rows if max_texts is None else islice(rows, max_texts)
    config = analysed.backbone.config
    shape = (config.num_layers, config.num_heads, len(MEASURES))
    heads, layers = RunningMean(shape), RunningMean((shape[0], shape[2]))
    measured = 0
    with progress.bar("measuring heads") as advance:
        while batch := list(islice(rows, batch_size)):
            for value in _measured_batch(analysed, batch, limit, counts):
                heads.add(value)
                layers.add(value.mean(axis=1))
                measured += 1
            advance(len(batch), "")
    if not measured:
        raise ValueError(f"There is no text to look at. Received: texts={str(texts)[:60]!r}")
    return HeadPatterns(
        mean=heads.mean,
        half_width=heads.half_width(CONFIDENCE),
        layer_mean=layers.mean,
        layer_half_width=layers.half_width(CONFIDENCE),
        texts=measured,
        truncated=counts["truncated"],
        empty=counts["empty"],
    )


def check_table_path(path: str | Path) -> None:
    """Raise ValueError unless the ending of a table's name says what it is."""
    if not str(path).lower().endswith((".csv", ".json")):
        raise ValueError(f"A table is a .csv or a .json file. Received: path={str(path)!r}")


def _rows_of(texts: Any) -> Iterator[tuple[str, ...]]:
    if not isinstance(texts, Path):
        yield from text_rows(texts)
        return
    for row in read_rows(str(texts), (TEXT,), (TEXT_PAIR,)):
        yield tuple(row.values[key] for key in (TEXT, TEXT_PAIR) if key in row.values)


def _not_empty(
    rows: Iterable[tuple[str, ...]], counts: dict[str, int]
) -> Iterator[tuple[str, ...]]:
    for row in rows:
        if all(text.strip() for text in row):
            yield row
        else:
            counts["empty"] += 1


def _measured_batch(
    model: AnalysedModel, batch: list[tuple[str, ...]], limit: int, counts: dict[str, int]
) -> np.ndarray:
    """Return (texts, layers, heads, measures) float64 of the texts that have tokens."""
    packed = pack_texts(model, batch, limit)
    with_tokens = [
        row for row, lacks in zip(batch, packed.without_tokens, strict=True) if lacks is None
    ]
    counts["empty"] += len(batch) - len(with_tokens)
    if not with_tokens:
        return np.empty((0,))
    if len(with_tokens) < len(batch):
        packed = pack_texts(model, with_tokens, limit)
    counts["truncated"] += int((packed.token_counts > limit).sum())
    roles = TokenRoles.of(packed)
    layers = [head_measures(scores, roles, model.causal) for scores in attention_of(model, packed)]
    return np.stack(layers, axis=1)


def _number(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
