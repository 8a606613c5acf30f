"""What probes found in every layer of a model, as a table."""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kerazoo.conversion.new_file import new_file


@dataclass(frozen=True)
class ProbeResult:
    """Accuracies of probes; layer 0 is the embedding output, layer n the output of block n.

    Every seed has a split of the rows, control labels and a random backbone of its own.

    Args:
        level: "token" or "sequence".
        pooling: which state stands for a word or a text: "first", "mean" or "last".
        labels: the labels of the examples, which are told apart.
        examples: int, words or texts, training and held-out ones together.
        seeds: the seeds.
        accuracy: (seeds, layers) float64, of the probes on the model.
        control: (seeds, layers) float64, with random labels.
        random: (seeds, layers) float64, on the randomly initialised backbone.
        majority: (seeds,) float64, of always giving the commonest training label.
        mix_weights: (seeds, layers) float64, the share of each layer in the scalar mix.
        mix_accuracy: (seeds,) float64, of the probe on the scalar mix.
        unconverged: int, how many classifiers were stopped before their training came to an end.
        left_out: int, words that lie behind the limit or have no token, or texts without a token.
        sequence_length: int, the limit: the most tokens of a row.
    """

    level: str
    pooling: str
    labels: list[str]
    examples: int
    seeds: tuple[int, ...]
    accuracy: np.ndarray
    control: np.ndarray
    random: np.ndarray
    majority: np.ndarray
    mix_weights: np.ndarray
    mix_accuracy: np.ndarray
    unconverged: int = 0
    left_out: int = 0
    sequence_length: int = 128

    @property
    def selectivity(self) -> np.ndarray:
        """Accuracy minus that with random labels, (seeds, layers)."""
        return self.accuracy - self.control

    @property
    def centre_of_gravity(self) -> float:
        """The mean layer, weighted by the scalar mix (Tenney et al. 2019)."""
        return float((self.mix_weights.mean(axis=0) * np.arange(self.mix_weights.shape[1])).sum())

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield a dict for each layer: every measure's mean over the seeds and its `_sd`.

        The spread is the standard deviation over the seeds, 0 of a single one.
        """
        measures = {
            "accuracy": self.accuracy,
            "control": self.control,
            "selectivity": self.selectivity,
            "random_backbone": self.random,
            "majority": np.broadcast_to(self.majority[:, np.newaxis], self.accuracy.shape),
            "mix_weight": self.mix_weights,
        }
        for layer in range(self.accuracy.shape[1]):
            row: dict[str, Any] = {"layer": layer}
            for name, values in measures.items():
                row[name] = float(values[:, layer].mean())
                row[f"{name}_sd"] = spread(values[:, layer])
            yield row

    def as_dict(self) -> dict[str, Any]:
        """Return everything, fit for JSON."""
        return {
            "level": self.level,
            "pooling": self.pooling,
            "labels": self.labels,
            "examples": self.examples,
            "left_out": self.left_out,
            "sequence_length": self.sequence_length,
            "seeds": list(self.seeds),
            "majority": float(self.majority.mean()),
            "mix_accuracy": float(self.mix_accuracy.mean()),
            "mix_accuracy_sd": spread(self.mix_accuracy),
            "centre_of_gravity": self.centre_of_gravity,
            "unconverged": self.unconverged,
            "layers": list(self.rows()),
        }

    def write_csv(self, path: str | Path) -> None:
        """Write a row a layer.

        Raises:
            FileExistsError: if there is something at the path already.
        """
        rows = list(self.rows())
        with new_file(path) as file, file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def write_json(self, path: str | Path) -> None:
        """Write everything.

        Raises:
            FileExistsError: if there is something at the path already.
        """
        with new_file(path) as file:
            text = json.dumps(self.as_dict(), ensure_ascii=False, indent=1)
            file.write_text(text + "\n", encoding="utf-8")


def spread(values: np.ndarray) -> float:
    """Return the standard deviation of a sample, 0 of a single value."""
    return float(values.std(ddof=1)) if len(values) > 1 else 0.0
