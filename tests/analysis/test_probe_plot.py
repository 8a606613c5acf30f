import numpy as np

from kerazoo.analysis.probe_plot import plot_probe
from kerazoo.analysis.probe_result import ProbeResult


def test_the_model_and_its_baselines_are_drawn(tmp_path):
    values = np.random.default_rng(0).random((2, 4))
    result = ProbeResult(
        "sequence", "mean", ["a", "b"], 30, (0, 1), values, values / 2, values / 3,
        np.array([0.5, 0.6]), values, values[:, 0],
    )  # fmt: skip
    plot_probe(result, tmp_path / "probe.svg")
    drawn = (tmp_path / "probe.svg").read_text()
    for words in ("the model", "random labels", "random backbone", "commonest label"):
        assert f"<!-- {words} -->" in drawn
    assert "<!-- Probes of 30 texts -->" in drawn
    assert "LineCollection" in drawn  # the bars


def test_a_single_seed_has_no_bars(tmp_path):
    values = np.random.default_rng(0).random((1, 4))
    result = ProbeResult(
        "token", "mean", ["a", "b"], 1, (7,), values, values / 2, values / 3,
        np.array([0.5]), values, values[:, 0],
    )  # fmt: skip
    plot_probe(result, tmp_path / "probe.svg")
    drawn = (tmp_path / "probe.svg").read_text()
    assert "<!-- Probes of 1 word -->" in drawn and "<!-- the model -->" in drawn
    assert "LineCollection" not in drawn
