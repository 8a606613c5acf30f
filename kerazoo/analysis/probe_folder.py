"""Probes whose results are written into a folder: a table, everything as JSON, and a plot."""

from pathlib import Path
from typing import Any

from kerazoo.analysis.plotting import check_plot_path
from kerazoo.analysis.probe import run_probe
from kerazoo.analysis.probe_plot import plot_probe
from kerazoo.analysis.probe_result import ProbeResult
from kerazoo.conversion.new_folder import new_folder

PLOT, TABLE, EVERYTHING = "probe.png", "probe.csv", "probe.json"


def probe_to_folder(model: Any, dataset: Any, output: str | Path, **arguments: Any) -> ProbeResult:
    """Run `run_probe` and write `probe.csv`, `probe.json` and `probe.png`.

    Args:
        model: as for `run_probe`.
        dataset: as for `run_probe`.
        output: the folder to create; it appears when everything is there.
        **arguments: further arguments of `run_probe`.

    Raises:
        FileExistsError: if there is something at the output path already.
        OSError: if nothing can be written there; like the first, before anything is computed.
        ModuleNotFoundError: if Matplotlib or scikit-learn is not installed.
    """
    check_plot_path(PLOT)
    with new_folder(output) as folder:
        result = run_probe(model, dataset, **arguments)
        result.write_csv(folder / TABLE)
        result.write_json(folder / EVERYTHING)
        plot_probe(result, folder / PLOT)
    return result
