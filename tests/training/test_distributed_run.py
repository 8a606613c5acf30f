from pathlib import Path

import keras
import numpy as np
import pytest
from two_processes import run_in_processes

from kerazoo.training import distributed_run as module
from kerazoo.training.distributed_run import distributed_run
from kerazoo.training.distribution import Distribution
from kerazoo.training.progress import Progress

SCRIPT = Path(__file__).parents[1] / "one_of_two_processes.py"


def as_process(monkeypatch, process):
    devices = Distribution("multi_worker", "host 2 of 2", None, process, 2)
    monkeypatch.setattr(module, "from_name", lambda name: devices)


def test_the_first_process_writes_the_output(monkeypatch, tmp_path, capsys):
    as_process(monkeypatch, 0)
    with distributed_run("multi_worker", tmp_path / "out", False, Progress()) as opened:
        assert opened.run.output == tmp_path / "out"
    assert "Training on host 2 of 2." in capsys.readouterr().err


def test_another_one_writes_and_says_nothing_that_stays(monkeypatch, tmp_path, capsys):
    as_process(monkeypatch, 1)
    with distributed_run("multi_worker", tmp_path / "out", False, Progress()) as opened:
        output = opened.run.output
        opened.run.begin({})
        opened.progress.say("words")
        assert opened.run.folder.is_dir()
    assert not output.exists()
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == ""


def test_several_processes_do_not_go_on(monkeypatch, tmp_path):
    # Said before anything waits for the other one.
    monkeypatch.setattr(module, "from_name", None)
    monkeypatch.setattr(module, "processes_of", {"multi_worker": 2}.get)
    with (
        pytest.raises(ValueError, match="cannot go on .*strategy='multi_worker', 2 processes"),
        distributed_run("multi_worker", tmp_path / "out", True, Progress()),
    ):
        pass


@pytest.mark.slow
@pytest.mark.skipif(keras.config.backend() == "torch", reason="PyTorch computes on one device.")
def test_two_processes_train_measure_and_predict_as_one(tmp_path):
    files = [tmp_path / f"{name}.npz" for name in ("first", "second", "alone")]
    run_in_processes(lambda strategy, number: [SCRIPT, strategy, files[number]])
    first, second, alone = (np.load(file) for file in files)
    for name in alone.files:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
        np.testing.assert_allclose(first[name], alone[name], rtol=1e-4, atol=1e-4, err_msg=name)
