import sys

import pytest

from kerazoo.analysis.plotting import check_plot_path, plot


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
def test_a_plot_is_written(ending, tmp_path):
    with plot(tmp_path / f"plot{ending}", "x", "y", "title") as axes:
        axes.plot([1, 2, 3], label="line")
    head = (tmp_path / f"plot{ending}").read_bytes()[:5]
    assert head == {".png": b"\x89PNG\r", ".svg": b"<?xml", ".pdf": b"%PDF-"}[ending]


def test_another_ending_is_refused():
    with pytest.raises(ValueError, match="one of .png, .svg, .pdf.*path='plot.bmp'"):
        check_plot_path("plot.bmp")


def test_without_matplotlib_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'kerazoo\[analysis\]'"):
        check_plot_path("plot.png")
