"""These run on JAX too: an interrupted run has to reach the weights of one that was not."""

import dataclasses
import json
import os
import signal
from pathlib import Path

import keras
import numpy as np
import pytest
from interruptions import at_step, fail
from two_processes import run_in_processes

from kerazoo import BertPretrainer, MaskedLM
from kerazoo.data.data_server import DataServer
from kerazoo.data.data_service import DataService
from kerazoo.data.manifest import read_manifest
from kerazoo.data.shard_rows import ShardRows
from kerazoo.optimizers.adamw import decays
from kerazoo.preprocessing.bert_pretrainer import BertPretrainerPreprocessor
from kerazoo.preprocessing.masked_lm import MaskedLMPreprocessor
from kerazoo.tasks.packed_rows import packed_rows
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.pretrain_loop import _inputs, dry_steps, train_steps
from kerazoo.training.unfinished_run import UnfinishedRun

SCRIPT = Path(__file__).parents[1] / "pretrain_as_process.py"
CONFIG = PretrainConfig(
    steps=4, batch_size=5, learning_rate=0.01, evaluate_every=3, checkpoint_every=3, seed=3
)


@pytest.fixture(scope="module")
def rows(make_shards):
    folder = make_shards("bert-mlm")
    return ShardRows(folder, read_manifest(folder), 0.1, held_out_limit=5, group_rows=30, seed=3)


@pytest.fixture(scope="module")
def make_task(make_tiny_backbone, tiny_tokenizer):
    def make():
        backbone = make_tiny_backbone(max_sequence_length=19, num_layers=1, dropout=0.2)
        return MaskedLM(backbone, MaskedLMPreprocessor(tiny_tokenizer, sequence_length=19))

    return make


@pytest.fixture
def train(make_task, rows):
    def in_folder(output, service=None, rows=rows, config=CONFIG):
        folder = UnfinishedRun(output, resume=True)
        folder.begin({})
        task = make_task()
        history = train_steps(task, rows, rows, folder, config, service=service)
        state = [*task.variables, *task.optimizer.variables]
        values = [(v.name, keras.ops.convert_to_numpy(v)) for v in state]
        times = ("seconds", "tokens_per_second", "waiting_share")
        return values, [{k: v for k, v in e.items() if k not in times} for e in history]

    return in_folder


def lost(server):
    raise ConnectionError(f"{server} was lost in the test")


def assert_same(result, expected):
    """Weights and history are those of another run."""
    (weights, history), (other_weights, other_history) = result, expected
    assert history == other_history
    for (name, value), (other_name, other) in zip(weights, other_weights, strict=True):
        assert name == other_name
        np.testing.assert_array_equal(value, other, err_msg=name)


def last_checkpoint(output):
    return checkpoint_files(output / ".unfinished")[-1].stem


@pytest.mark.slow
@pytest.mark.skipif(
    keras.config.backend() == "torch", reason="there Keras's dropout draws from a global state"
)
def test_an_interrupted_run_reaches_the_same_weights(train, monkeypatch, tmp_path):
    weights, history = train(tmp_path / "whole")
    assert [entry["step"] for entry in history] == [3, 4]
    assert history[-1]["val_loss"] != history[0]["val_loss"]
    parts = tmp_path / "parts"
    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        # In the middle between two evaluations, and between two checkpoints.
        at_step(patch, 2, lambda: os.kill(os.getpid(), signal.SIGTERM))
        train(parts)
    assert last_checkpoint(parts) == "step-000000002"
    if keras.config.backend() == "tensorflow":  # on JAX every run is compiled
        with monkeypatch.context() as patch, pytest.raises(RuntimeError):
            at_step(patch, 4, fail)
            train(parts)
        assert last_checkpoint(parts) == "step-000000003"
    assert_same(train(parts), (weights, history))


@pytest.mark.slow
@pytest.mark.skipif(
    keras.config.backend() == "torch", reason="there Keras's dropout draws from a global state"
)
@pytest.mark.parametrize(("packing", "bucket_width"), [(None, 4), ("lines", None)])
def test_buckets_and_packed_rows_are_gone_on_with(
    train, make_shards, monkeypatch, tmp_path, packing, bucket_width
):
    packed = {} if packing is None else {"packing": packing}
    folder = make_shards("bert-mlm", **packed)
    rows = ShardRows(folder, read_manifest(folder), 0.1, held_out_limit=5, group_rows=30, seed=3)
    # The last checkpoint is one between two evaluations.
    config = dataclasses.replace(CONFIG, bucket_width=bucket_width, checkpoint_every=2)
    what = {"rows": rows, "config": config}
    whole = train(tmp_path / "whole", **what)
    parts = tmp_path / "parts"
    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        at_step(patch, 3, fail)
        train(parts, **what)
    assert last_checkpoint(parts) == "step-000000002"
    assert_same(train(parts, **what), whole)


@pytest.mark.slow
@pytest.mark.skipif(
    keras.config.backend() == "torch", reason="there Keras's dropout draws from a global state"
)
def test_a_data_service_changes_nothing(train, monkeypatch, tmp_path):
    whole = train(tmp_path / "whole")
    parts = tmp_path / "parts"
    with DataServer() as first, DataServer() as second:
        service = DataService([first.address, second.address])
        with monkeypatch.context() as patch, pytest.raises(SystemExit):
            at_step(patch, 2, lambda: os.kill(os.getpid(), signal.SIGTERM))
            train(parts, service)
        assert last_checkpoint(parts) == "step-000000002"
        assert_same(train(parts, service), whole)


@pytest.mark.slow
@pytest.mark.skipif(keras.config.backend() == "torch", reason="PyTorch computes on one device.")
def test_two_processes_prepare_their_rows_and_train_as_one(
    make_shards, make_tiny_backbone, tiny_tokenizer, tmp_path
):
    # Without dropout, which devices draw each for itself.
    backbone = make_tiny_backbone(max_sequence_length=19, num_layers=1, dropout=0.0)
    preprocessor = MaskedLMPreprocessor(tiny_tokenizer, sequence_length=19)
    MaskedLM(backbone, preprocessor).save_to_preset(tmp_path / "preset")
    shards, files = make_shards("bert-mlm"), [tmp_path / f"{number}.json" for number in range(3)]
    with DataServer() as server:

        def arguments_of(strategy, number):
            # The second one takes its rows from a data service.
            served = [server.address] if number == 1 else []
            return [SCRIPT, strategy, shards, tmp_path / "preset", files[number], *served]

        run_in_processes(arguments_of)
    first, second, alone = (json.loads(file.read_text()) for file in files)
    # Of each batch of 6 rows; what a data service decodes is traced here.
    assert (first["decoded"], second["decoded"], alone["decoded"]) == ([3], [3], [6])
    assert first["evaluations"] == second["evaluations"]
    assert len(alone["evaluations"]) == 3
    for found, expected in zip(first["evaluations"], alone["evaluations"], strict=True):
        assert found == pytest.approx(expected, rel=1e-4)


@pytest.mark.tensorflow
def test_a_data_service_that_fails_is_told(train, tmp_path, monkeypatch):
    with DataServer() as server:
        service = DataService([server.address])
        monkeypatch.setattr("kerazoo.data.data_service.check_server", lost)
        with pytest.raises(ConnectionError, match="lost in the test"):
            train(tmp_path / "out", service)


def test_biases_and_norms_alone_are_not_decayed(make_tiny_backbone, tiny_tokenizer):
    backbone = make_tiny_backbone(num_layers=1)
    preprocessor = BertPretrainerPreprocessor(tiny_tokenizer, sequence_length=9)
    task = BertPretrainer(backbone, preprocessor)
    undecayed = [v.path for v in task.trainable_variables if not decays(v)]
    print("\n".join(undecayed))
    assert all(path.endswith(("bias", "gamma", "beta")) for path in undecayed)
    decayed = [v.path for v in task.trainable_variables if decays(v)]
    assert all(path.endswith(("kernel", "embeddings")) for path in decayed), decayed
    # A layer has four projections, two dense layers (a bias each) and two norms of two.
    embeddings, pooler, head, next_sentence = 2, 1, 1 + 2 + 1, 1
    assert len(undecayed) == 10 + embeddings + pooler + head + next_sentence


@pytest.mark.tensorflow
def test_measuring_before_the_first_step(make_task, rows, tmp_path):
    folder = UnfinishedRun(tmp_path / "out", resume=False)
    folder.begin({})
    config = PretrainConfig(steps=1, batch_size=5)
    history = train_steps(make_task(), rows, rows, folder, config, evaluate_first=True)
    assert [entry["step"] for entry in history] == [0, 1]
    assert set(history[0]) < set(history[1])


@pytest.mark.slow
@pytest.mark.tensorflow
def test_texts_of_packed_rows_do_not_see_each_other(make_task, make_shards, tmp_path):
    folder = make_shards("bert-mlm", packing="lines")
    rows = ShardRows(folder, read_manifest(folder), 0.2, held_out_limit=7)
    run = UnfinishedRun(tmp_path / "out", resume=False)
    run.begin({})
    task = make_task()
    config = PretrainConfig(steps=2, batch_size=5)
    history = train_steps(task, rows, rows, run, config)
    validation = _inputs(task, rows).validation_dataset(rows, 5)
    with task.without_preprocessor():
        joined = task.evaluate(validation, return_dict=True, verbose=0)
        with packed_rows(task):
            packed = task.evaluate(validation, return_dict=True, verbose=0)
    assert packed["loss"] == pytest.approx(history[-1]["val_loss"], rel=1e-6)
    assert abs(joined["loss"] - packed["loss"]) > 1e-4


@pytest.mark.tensorflow
def test_a_dry_run_has_the_batches_of_the_run(make_task, rows):
    task = make_task()
    task.static_rows = CONFIG.batch_size
    config = dataclasses.replace(CONFIG, bucket_width=4)
    with pytest.raises(ValueError, match="the width of these rows changes"):
        dry_steps(task, rows, None, config)
