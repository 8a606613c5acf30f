"""Matplotlib without a window, which the extra `analysis` brings."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kerazoo.conversion.new_file import new_file

ENDINGS = (".png", ".svg", ".pdf")


def check_plot_path(path: str | Path) -> None:
    """Raise unless a plot can be made for a path: its ending is known and Matplotlib is there.

    Raises:
        ValueError: for an ending that is none of `ENDINGS`.
        ModuleNotFoundError: if Matplotlib is not installed.
    """
    if not str(path).lower().endswith(ENDINGS):
        raise ValueError(
            f"A plot is one of {', '.join(ENDINGS)}. Name the file so. Received: path={str(path)!r}"
        )
    _figure_class()


@contextmanager
def plot(path: str | Path, xlabel: str, ylabel: str, title: str) -> Iterator[Any]:
    """Yield the axes of a plot that is written when the block ends without error.

    Args:
        path: the file to write; one of `ENDINGS`.
        xlabel: words under the horizontal axis.
        ylabel: words beside the vertical axis.
        title: words above the plot.
    """
    check_plot_path(path)
    figure = _figure_class()(figsize=(7, 4.2), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel=xlabel, ylabel=ylabel, title=title)
    axes.grid(alpha=0.3)
    yield axes
    if axes.get_legend_handles_labels()[1]:
        axes.legend()
    with new_file(path) as file:
        figure.savefig(file, dpi=150)


def _figure_class() -> Any:
    try:
        # Not pyplot, which would keep every figure and may open a window.
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Plots need Matplotlib: pip install 'kerazoo[analysis]'"
        ) from error
    return Figure
