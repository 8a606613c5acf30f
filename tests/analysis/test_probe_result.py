import csv
import dataclasses
import json

import numpy as np
import pytest

from kerazoo.analysis.probe_result import ProbeResult, spread


@pytest.fixture
def result():
    return ProbeResult(
        level="token",
        pooling="first",
        labels=["名", "动"],
        examples=70,
        seeds=(0, 1),
        accuracy=np.array([[0.5, 0.9, 0.8], [0.7, 0.7, 0.8]]),
        control=np.array([[0.4, 0.3, 0.2], [0.4, 0.3, 0.2]]),
        random=np.full((2, 3), 0.45),
        majority=np.array([0.3, 0.5]),
        mix_weights=np.array([[0.2, 0.5, 0.3], [0.2, 0.5, 0.3]]),
        mix_accuracy=np.array([0.9, 0.8]),
    )


def test_a_row_a_layer(result):
    rows = list(result.rows())
    assert [row["layer"] for row in rows] == [0, 1, 2]
    assert rows[0]["accuracy"] == pytest.approx(0.6)
    assert rows[0]["accuracy_sd"] == pytest.approx(0.2 / 2**0.5)
    assert rows[1]["selectivity"] == pytest.approx(0.5)
    assert rows[2]["majority"] == pytest.approx(0.4)
    assert result.centre_of_gravity == pytest.approx(1.1)


def test_files_hold_the_same(result, tmp_path):
    result.write_csv(tmp_path / "probe.csv")
    result.write_json(tmp_path / "probe.json")
    with (tmp_path / "probe.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    content = json.loads((tmp_path / "probe.json").read_text(encoding="utf-8"))
    assert content["labels"] == ["名", "动"] and content["mix_accuracy"] == pytest.approx(0.85)
    assert [float(row["selectivity"]) for row in rows] == [
        layer["selectivity"] for layer in content["layers"]
    ]


def test_what_was_left_out_is_in_the_file(result, tmp_path):
    found = dataclasses.replace(result, left_out=9, sequence_length=17).as_dict()
    assert (found["left_out"], found["sequence_length"]) == (9, 17)


def test_one_seed_has_no_spread():
    assert spread(np.array([0.7])) == 0.0
