import json

import pytest

from kerazoo.analysis.probe import ProbeSettings
from kerazoo.analysis.probe_folder import probe_to_folder

ROWS = (["film", "was bad", "a play", "is"] * 5, ["n", "v", "n", "v"] * 5)


def test_a_table_everything_and_a_plot(sharp_bert, tmp_path):
    backbone, tokenizer = sharp_bert
    result = probe_to_folder(
        backbone,
        ROWS,
        tmp_path / "probe",
        level="sequence",
        tokenizer=tokenizer,
        settings=ProbeSettings(seeds=(3,)),
    )
    names = sorted(path.name for path in (tmp_path / "probe").iterdir())
    assert names == ["probe.csv", "probe.json", "probe.png"]
    content = json.loads((tmp_path / "probe" / "probe.json").read_text())
    assert content["layers"][2]["accuracy"] == result.accuracy[0, 2]


def test_an_output_that_is_taken_is_told_before_anything_runs(tmp_path):
    (tmp_path / "probe").write_text("")
    with pytest.raises(FileExistsError, match="nothing was written"):
        probe_to_folder("no such model", ROWS, tmp_path / "probe")


def test_an_output_that_cannot_be_written_is_told_before_anything_runs():
    with pytest.raises(OSError, match="Nothing can be written there .*'/proc/kerazoo/probe'"):
        probe_to_folder("no such model", ROWS, "/proc/kerazoo/probe")


def test_what_fails_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        probe_to_folder(tmp_path / "no such model", ROWS, tmp_path / "probe", level="sequence")
    assert not list(tmp_path.iterdir())
