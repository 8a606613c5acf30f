"""A plot of entropy by layer."""

from pathlib import Path

import numpy as np

from kerazoo.analysis.patterns import HeadPatterns
from kerazoo.analysis.plotting import plot
from kerazoo.training.counted import counted


def plot_entropy(patterns: HeadPatterns, path: str | Path) -> None:
    """Draw the entropy of every head as a point and the means of the layers as a line.

    The band around the line is the confidence interval of the means.

    Args:
        patterns: from `head_patterns`.
        path: the file to write: .png, .svg or .pdf.

    Raises:
        FileExistsError: if there is something at the path already.
        ValueError: for another ending.
        ModuleNotFoundError: if Matplotlib is not installed.
    """
    column = patterns.measures.index("entropy")
    layers = np.arange(1, len(patterns.mean) + 1)
    heads = patterns.mean[:, :, column]
    mean, half = patterns.layer_mean[:, column], patterns.layer_half_width[:, column]
    title = f"Attention entropy over {counted(patterns.texts, 'text')}"
    with plot(path, "layer", "entropy (nats)", title) as axes:
        axes.scatter(
            np.repeat(layers, heads.shape[1]), heads.ravel(), s=14, alpha=0.5, label="head"
        )
        axes.plot(layers, mean, marker="o", color="tab:red", label="mean of the layer")
        if not np.isnan(half).all():
            axes.fill_between(layers, mean - half, mean + half, color="tab:red", alpha=0.2)
        axes.set_xticks(layers)
        axes.set_ylim(bottom=0)
