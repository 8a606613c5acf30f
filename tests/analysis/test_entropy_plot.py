import numpy as np

from kerazoo.analysis.entropy_plot import plot_entropy
from kerazoo.analysis.head_measures import MEASURES
from kerazoo.analysis.patterns import HeadPatterns


def test_every_head_is_a_point_and_the_mean_a_line(tmp_path):
    mean = np.random.default_rng(0).random((3, 5, len(MEASURES)))
    half = np.full((3, len(MEASURES)), 0.1)
    patterns = HeadPatterns(mean, mean * 0, mean.mean(axis=1), half, texts=7)
    plot_entropy(patterns, tmp_path / "entropy.svg")
    drawn = (tmp_path / "entropy.svg").read_text()
    points = drawn[drawn.index('id="PathCollection_1"') :].split("</g>\n   </g>")[0]
    assert points.count("<use ") == 15
    assert 'id="FillBetweenPolyCollection_1"' in drawn
    assert "<!-- Attention entropy over 7 texts -->" in drawn


def test_one_text_is_one(tmp_path):
    mean = np.random.default_rng(0).random((3, 5, len(MEASURES)))
    unknown = np.full_like(mean, np.nan)
    patterns = HeadPatterns(mean, unknown, mean.mean(axis=1), unknown[:, 0], texts=1)
    plot_entropy(patterns, tmp_path / "entropy.svg")
    drawn = (tmp_path / "entropy.svg").read_text()
    assert "<!-- Attention entropy over 1 text -->" in drawn
    assert "FillBetweenPolyCollection" not in drawn
