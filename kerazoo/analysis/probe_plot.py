"""A plot of what probes found by layer."""

from pathlib import Path

import numpy as np

from kerazoo.analysis.plotting import plot
from kerazoo.analysis.probe_data import TOKEN
from kerazoo.analysis.probe_result import ProbeResult
from kerazoo.training.counted import counted


def plot_probe(result: ProbeResult, path: str | Path) -> None:
    """Draw accuracy by layer, with its baselines; bars are standard deviations over the seeds.

    A single seed has none.

    Args:
        result: from `run_probe`.
        path: the file to write: .png, .svg or .pdf.

    Raises:
        FileExistsError: if there is something at the path already.
        ValueError: for another ending.
        ModuleNotFoundError: if Matplotlib is not installed.
    """
    rows = list(result.rows())
    layers = np.arange(len(rows))
    lines = {
        "accuracy": "the model",
        "control": "random labels",
        "random_backbone": "random backbone",
    }
    examples = counted(result.examples, "word" if result.level == TOKEN else "text")
    has_spread = len(result.seeds) > 1
    with plot(path, "layer (0: embeddings)", "accuracy", f"Probes of {examples}") as axes:
        for name, label in lines.items():
            means = [row[name] for row in rows]
            spreads = [row[f"{name}_sd"] for row in rows] if has_spread else None
            axes.errorbar(layers, means, spreads, marker="o", capsize=3, label=label)
        axes.axhline(result.majority.mean(), color="gray", linestyle="--", label="commonest label")
        axes.set_xticks(layers)
        axes.set_ylim(0, 1.02)
