import json
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest
from batches_of_tasks import check_same_gradients
from tiny_corpus import WORDS
from two_processes import run_in_processes, run_in_two

from kerazoo import (
    MaskedLM,
    MaskedLMPreprocessor,
    TextClassifier,
    TextClassifierPreprocessor,
)
from kerazoo.training import distributed_run as module
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.distributed_run import distributed_run
from kerazoo.training.distribution import Distribution
from kerazoo.training.progress import Progress

TESTS = Path(__file__).parents[1]
SCRIPT, COMMAND = TESTS / "one_of_two_processes.py", TESTS / "kerazoo_as_process.py"
TWO_PROCESSES = pytest.mark.skipif(
    keras.config.backend() == "torch", reason="PyTorch computes on one device."
)


class Lost(Exception):
    """What a backend raises when another process has ended."""


@pytest.fixture
def told(monkeypatch):
    """All that this process, one of two, tells the other one, which finds nothing itself."""
    words = []

    def exchanged(devices, own):
        words.append(own)
        return [own, "{}"] if devices.is_chief else ["{}", own]

    monkeypatch.setattr(module, "exchange", exchanged)
    monkeypatch.setattr(module, "is_lost_process", lambda error: isinstance(error, Lost))
    return words


def as_process(monkeypatch, process):
    devices = Distribution("multi_worker", "host 2 of 2", None, process, 2)
    monkeypatch.setattr(module, "from_name", lambda name, say: devices)


def test_the_first_process_writes_the_output(told, monkeypatch, tmp_path, capsys):
    as_process(monkeypatch, 0)
    with distributed_run("multi_worker", tmp_path / "out", False, Progress()) as opened:
        assert opened.run.output == tmp_path / "out"
        opened.run.begin({})
    assert "Training on host 2 of 2." in capsys.readouterr().err
    assert told == ["{}", "{}"]


def test_another_one_writes_and_says_nothing_that_stays(told, monkeypatch, tmp_path, capsys):
    as_process(monkeypatch, 1)
    with distributed_run("multi_worker", tmp_path / "out", False, Progress()) as opened:
        output = opened.run.output
        opened.run.begin({})
        opened.progress.say("words")
        assert opened.run.folder.is_dir()
    assert not output.exists()
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == ""
    assert told == ["{}", "{}"]


def test_what_ends_one_before_the_first_step_is_told_to_all(told, monkeypatch, tmp_path):
    as_process(monkeypatch, 0)
    (tmp_path / "precious").write_text("words")
    with pytest.raises(FileExistsError), distributed_run("auto", tmp_path, False, Progress()):
        pass
    assert "something at the output path" in told.pop()
    with (
        pytest.raises(KeyError),
        distributed_run("auto", tmp_path / "out", False, Progress()),
    ):
        raise KeyError("rows")
    assert "rows" in told.pop()
    assert not (tmp_path / "out").exists()


def test_what_ends_one_later_is_not_told(told, monkeypatch, tmp_path):
    as_process(monkeypatch, 0)
    with (
        pytest.raises(KeyError),
        distributed_run("auto", tmp_path / "out", False, Progress()) as opened,
    ):
        opened.run.begin({})
        raise KeyError("rows")
    assert told == ["{}", "{}"]


@pytest.mark.parametrize("is_begun", [True, False])
def test_a_lost_process_is_said_in_a_sentence(told, monkeypatch, tmp_path, is_begun):
    as_process(monkeypatch, 1)
    left = []
    monkeypatch.setattr(module, "leave_without_the_others", lambda: left.append(True))
    with (
        pytest.raises(ConnectionError, match="Another one of the 2 .*--resume.*: reset by peer"),
        distributed_run("auto", tmp_path / "out", True, Progress()) as opened,
    ):
        if is_begun:
            opened.run.begin({})
        raise Lost("reset\nby peer")
    assert told == ["{}", "{}"] * is_begun
    assert left == [True]


@pytest.mark.slow
@TWO_PROCESSES
def test_two_processes_train_measure_and_predict_as_one(tmp_path):
    files = [tmp_path / f"{name}.npz" for name in ("first", "second", "alone")]
    run_in_processes(lambda strategy, number: [SCRIPT, strategy, files[number]])
    first, second, alone = (np.load(file) for file in files)
    for name in alone.files:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
        np.testing.assert_allclose(first[name], alone[name], rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.slow
@TWO_PROCESSES
def test_two_processes_with_batches_in_parts_give_the_whole_batch(tmp_path):
    script = TESTS / "accumulate_as_process.py"
    files = [tmp_path / f"{name}.npz" for name in ("first", "second", "alone")]
    run_in_processes(
        lambda strategy, number: [script, strategy, 1 if number == 2 else 2, files[number]]
    )
    first, second, alone = ({**np.load(file)} for file in files)
    for name in alone:
        np.testing.assert_array_equal(first[name], second[name], err_msg=name)
    losses = alone.pop("losses")
    assert len(losses) == 3
    np.testing.assert_allclose(first.pop("losses"), losses, rtol=1e-5)
    assert len(alone) > 20
    check_same_gradients([first[name] for name in alone], alone.values())


@pytest.fixture
def finetuning(make_tiny_backbone, tiny_tokenizer, tmp_path):
    """Arguments of a fine-tuning of 12 steps, with dropout; no checkpoint ends an epoch alone."""
    draw = np.random.default_rng(3)
    rows = [
        {"text": " ".join(draw.choice(WORDS, draw.integers(4, 8))), "label": label}
        for label in ["good", "bad", "bad"] * 6
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    backbone = make_tiny_backbone(num_layers=1, dropout=0.2)
    preprocessor = TextClassifierPreprocessor(tiny_tokenizer, sequence_length=9)
    task = TextClassifier(backbone, preprocessor=preprocessor, labels=["bad", "good"])
    task.save_to_preset(tmp_path / "preset")
    command = ["finetune", "text-classification", "--preset", tmp_path / "preset"]
    files = ["--train", file, "--validation", file]
    return [*command, *files, "--epochs", 3, "--batch-size", 5, "--checkpoint-every", 3]


@pytest.fixture
def pretraining(make_shards, make_tiny_backbone, tiny_tokenizer, tmp_path):
    """Arguments of a pre-training of 9 steps, with dropout and masks."""
    backbone = make_tiny_backbone(max_sequence_length=19, num_layers=1, dropout=0.2)
    preprocessor = MaskedLMPreprocessor(tiny_tokenizer, sequence_length=19)
    MaskedLM(backbone, preprocessor).save_to_preset(tmp_path / "preset")
    command = ["pretrain", "--preset", tmp_path / "preset", "--data", make_shards("bert-mlm")]
    every = ["--evaluate-every", 5, "--checkpoint-every", 3]
    return [*command, "--steps", 9, "--batch-size", 6, *every]


def weights_and_history(output):
    weights = {}

    def keep(name, value):
        if isinstance(value, h5py.Dataset):
            weights[name] = value[()]

    for path in sorted(output.glob("*.weights.h5")):
        with h5py.File(path) as file:
            file.visititems(lambda name, value, path=path: keep(f"{path.name} {name}", value))
    metrics = json.loads((output / "metrics.json").read_text())
    times = ("seconds", "tokens_per_second", "waiting_share")
    history = metrics["evaluations" if "evaluations" in metrics else "epochs"]
    return weights, [{k: v for k, v in e.items() if k not in times} for e in history]


def run_of(arguments, output, steps=(0, 0), resume=False):
    """What two processes give that are killed after steps; the command is the same for both."""
    resume = ["--resume"] if resume else []
    more = ["--learning-rate", 0.01, "--output", output, *resume]
    return run_in_two(lambda number: [COMMAND, steps[number], *arguments, *more])


def check_same(output, whole):
    (weights, history), (expected, expected_history) = map(weights_and_history, (output, whole))
    assert len(history) > 1
    assert history == expected_history
    assert len(weights) == len(expected) > 20
    for name, value in weights.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.slow
@TWO_PROCESSES
def test_if_one_is_killed_the_other_ends_and_both_go_on(finetuning, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert [code for code, _ in run_of(finetuning, whole)] == [0, 0]
    (code, said), (killed, _) = run_of(finetuning, parts, steps=(0, 7))
    assert (code, killed) == (1, -9)
    assert "Error: Another one of the 2 processes has ended" in said
    (code, said), (other, _) = run_of(finetuning, parts, resume=True)
    assert (code, other) == (0, 0)
    assert "Going on after step 6 of 12." in said
    check_same(parts, whole)


@pytest.mark.slow
@TWO_PROCESSES
def test_if_both_are_killed_both_go_on(pretraining, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert [code for code, _ in run_of(pretraining, whole)] == [0, 0]
    assert [code for code, _ in run_of(pretraining, parts, steps=(4, 4))] == [-9, -9]
    (code, said), (other, _) = run_of(pretraining, parts, resume=True)
    assert (code, other) == (0, 0)
    assert "Going on after step 3 of 9." in said
    check_same(parts, whole)


@pytest.mark.slow
@TWO_PROCESSES
def test_a_signal_to_one_stops_both_after_the_same_step(finetuning, tmp_path):
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert [code for code, _ in run_of(finetuning, whole)] == [0, 0]
    (code, said), (other, _) = run_of(finetuning, parts, steps=(0, -2))
    assert (code, other) == (143, 143)
    assert "What was done is kept" in said
    (file,) = checkpoint_files(parts / ".unfinished")[-1:]
    (code, said), (other, _) = run_of(finetuning, parts, resume=True)
    assert (code, other) == (0, 0)
    assert f"Going on after step {int(file.stem[-9:])} of 12." in said
    check_same(parts, whole)


@pytest.mark.slow
@TWO_PROCESSES
def test_none_begins_if_one_cannot(finetuning, tmp_path):
    missing = tmp_path / "missing.jsonl"

    def arguments_of(number):
        train = ["--train", missing] if number else []
        return [COMMAND, 0, *finetuning, *train, "--output", tmp_path / "out"]

    (code, said), (other, first_hand) = run_in_two(arguments_of, timeout=100)
    assert (code, other) == (1, 1)
    assert "missing.jsonl" in first_hand
    assert "Error: Process 2 of 2 cannot begin, so none does. It says: " in said
    assert "missing.jsonl" in said
    assert not (tmp_path / "out").exists()
