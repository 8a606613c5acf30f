import dataclasses
import json
import os
from importlib.util import find_spec
from unittest.mock import Mock

import numpy as np
import pytest
from tiny_corpus import write_corpus

from kerazoo import BertPretrainer, CausalLM, MaskedLM
from kerazoo.conversion.locked_output import locked_output
from kerazoo.training import pretrain as module
from kerazoo.training.checkpoint import Position, write_checkpoint
from kerazoo.training.pretrain import pretrain, summary
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.progress import Progress

SHORT = PretrainConfig(steps=2, batch_size=5)


@pytest.fixture(scope="module")
def first(make_shards, tmp_path_factory):
    """The result of a run on pairs, and its logs."""
    folder = tmp_path_factory.mktemp("first")
    logs = {"tensorboard": str(folder / "logs")} if find_spec("tensorboard") else {}
    data = str(make_shards("bert"))
    return pretrain(data, folder / "out", SHORT, size="tiny", **logs), folder


@pytest.mark.slow
def test_a_new_bert_from_shards(first):
    result, folder = first
    assert result.folder == folder / "out"
    metrics = json.loads((result.folder / "metrics.json").read_text())
    assert metrics == result.metrics
    assert metrics["task"] == "bert-pretraining"
    assert (metrics["train_rows"], metrics["validation_rows"]) == (77, 4)
    for part in ("masked_lm", "next_sentence"):
        assert metrics[f"{part}_loss"] > 0
        assert 0 <= metrics[f"{part}_accuracy"] <= 1
    assert metrics["loss"] == pytest.approx(
        metrics["masked_lm_loss"] + metrics["next_sentence_loss"], rel=1e-5
    )
    assert metrics["evaluations"][-1]["step"] == metrics["steps"] == 2
    assert metrics["tokens_per_second"] > 0
    settings = PretrainConfig.from_file(result.folder / "training_config.json")
    # It says how the words were masked, though nobody chose it.
    masks = {"masking": "token", "mask_selection_rate": 0.15}
    assert settings == dataclasses.replace(SHORT, **masks)
    assert set(os.listdir(folder)) <= {"out", "logs"}
    assert not (result.folder / ".unfinished").exists()
    assert summary(metrics).startswith("2 steps, masked lm accuracy 0.")


def test_a_folder_that_another_run_writes_is_left_alone(make_shards, tmp_path):
    with (
        locked_output(tmp_path / "out"),
        pytest.raises(BlockingIOError, match="being written to by process"),
    ):
        pretrain(str(make_shards("bert")), tmp_path / "out", SHORT, size="tiny", resume=True)
    assert os.listdir(tmp_path) == []


def test_one_of_a_kind_is_singular():
    metrics = {"steps": 1, "accuracy": 0.5, "validation_rows": 1, "tokens_per_second": None}
    assert summary(metrics) == "1 step, accuracy 0.5000 on 1 row held out"


def test_masks_beside_static_ones_are_refused(make_shards, tmp_path):
    config = dataclasses.replace(SHORT, masking="ngram")
    data = str(make_shards("bert", static_masks=2))
    with pytest.raises(ValueError, match="hold static masks.*Received: masking='ngram'"):
        pretrain(data, tmp_path / "out", config, size="tiny")
    assert os.listdir(tmp_path) == []


@pytest.mark.slow
def test_logs_for_tensorboard(first):
    pytest.importorskip("tensorboard")
    events = (first[1] / "logs").rglob("events.*")
    assert {path.parent.name for path in events} == {"train", "validation"}


@pytest.mark.slow
def test_heads_are_kept_and_measured_first(first, make_shards, tmp_path, capsys):
    preset, data = str(first[0].folder), str(make_shards("bert-mlm"))
    config = PretrainConfig(steps=1, batch_size=5, masking="whole_word")
    metrics = pretrain(data, tmp_path / "out", config, preset=preset, progress=Progress()).metrics
    assert [entry["step"] for entry in metrics["evaluations"]] == [0, 1]
    assert metrics["loss"] == pytest.approx(np.log(metrics["perplexity"]))
    said = capsys.readouterr().err
    assert "Held out to evaluate on: " in said
    assert "step 1/1: " in said
    task = BertPretrainer.from_preset(preset)
    assert task.backbone.config.max_sequence_length == 19
    before = task.masked_lm_head.dense.kernel.numpy()
    after = MaskedLM.from_preset(tmp_path / "out").masked_lm_head.dense.kernel.numpy()
    # One step at most moves a weight by the rate (and decay).
    assert 0 < np.abs(after - before).max() < 2e-4


@pytest.mark.slow
def test_gpt_from_raw_text(corpus_file, tiny_bpe_tokenizer, make_tiny_causal_lm, tmp_path):
    model = make_tiny_causal_lm()
    model.save_to_preset(tmp_path / "gpt")
    config = PretrainConfig(steps=1, batch_size=5, validation_rows=5)
    result = pretrain(
        [corpus_file],
        tmp_path / "out",
        config,
        preset=str(tmp_path / "gpt"),
        validation=corpus_file,
    )
    assert result.metrics["task"] == "causal-lm"
    # Shorter than 128, as that is all the checkpoint reads.
    longest = model.backbone.config.max_sequence_length
    assert result.metrics["sequence_length"] == longest < 128
    assert result.metrics["perplexity"] > 1
    assert "perplexity" in summary(result.metrics)
    assert CausalLM.from_preset(tmp_path / "out").preprocessor.sequence_length == longest


@pytest.fixture
def no_model(monkeypatch):
    """Making a model is an error: what is wrong must be told before."""

    def refuse(*arguments):
        raise AssertionError("the model was made")

    monkeypatch.setattr(module, "new_task", refuse)
    monkeypatch.setattr(module, "load_task", refuse)


def test_tensorboard_that_is_not_installed_is_told_first(
    make_shards, tmp_path, monkeypatch, no_model
):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'kerazoo\[tensorboard\]'"):
        pretrain(str(make_shards("bert")), tmp_path / "out", size="tiny", tensorboard="logs")


@pytest.mark.parametrize("names", [{}, {"preset": "a", "size": "tiny"}])
def test_a_checkpoint_or_a_size(no_model, names, tmp_path):
    with pytest.raises(ValueError, match="Name the checkpoint .* or a `size`"):
        pretrain("data", tmp_path / "out", **names)


def test_an_output_that_is_not_free_is_told_first_and_kept(no_model, make_shards, tmp_path):
    (tmp_path / "config.json").write_text("precious")
    with pytest.raises(FileExistsError, match="something at the output path"):
        pretrain(str(make_shards("bert")), tmp_path, size="tiny")
    assert os.listdir(tmp_path) == ["config.json"]


def test_an_unknown_size_and_missing_texts_are_told_first(no_model, make_shards, tmp_path):
    with pytest.raises(ValueError, match="size='minny'"):
        pretrain(str(make_shards("bert")), tmp_path / "out", size="minny")
    with pytest.raises(FileNotFoundError, match="no file or folder missing.txt"):
        pretrain(str(make_shards("bert")), tmp_path / "out", size="tiny", validation="missing.txt")
    assert not (tmp_path / "out").exists()


def test_other_validation_rows_are_told_when_a_run_is_gone_on_with(
    make_shards, tmp_path, monkeypatch
):
    data, out, file = str(make_shards("bert-mlm")), tmp_path / "out", tmp_path / "measured.txt"
    options = {"size": "tiny", "validation": write_corpus(file, 4)}

    def killed(task, rows, measured, run, *more, **options):
        write_checkpoint(run.folder, Position(1, [], None, run.description), [])
        raise KeyError("killed")

    monkeypatch.setattr(module, "new_task", Mock())
    monkeypatch.setattr(module, "train_steps", killed)
    for resume in (False, True):
        with pytest.raises(KeyError, match="killed"):
            pretrain(data, out, SHORT, resume=resume, **options)
    write_corpus(file, 4, seed=5)
    with pytest.raises(ValueError, match="Received: other rows in the validation data than it"):
        pretrain(data, out, SHORT, resume=True, **options)
    # A run that an earlier version began does not know the rows.
    kept = out / ".unfinished"
    begun = {**json.loads((kept / "run.json").read_text())}
    del begun["validation_rows"]
    (kept / "run.json").write_text(json.dumps(begun))
    write_checkpoint(kept, Position(1, [], None, begun), [])
    with pytest.raises(KeyError, match="killed"):
        pretrain(data, out, SHORT, resume=True, **options)


@pytest.mark.slow
def test_a_failed_run_leaves_nothing_and_an_unfinished_one_is_gone_on_with(
    make_shards, tmp_path, monkeypatch
):
    data, out = str(make_shards("bert-mlm")), tmp_path / "out"

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    config = PretrainConfig(steps=2, batch_size=5, checkpoint_every=1, validation_fraction=0)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr("kerazoo.training.checkpoint_writer.write_checkpoint", full)
        pretrain(data, out, config, size="tiny")
    assert not out.exists()
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space"):
        patch.setattr(module, "write_run", full)
        pretrain(data, out, config, size="tiny")
    with pytest.raises(FileExistsError, match="unfinished run"):
        pretrain(data, out, config, size="tiny")
    with pytest.raises(ValueError, match="Received: steps=3 instead of 2"):
        pretrain(
            data, out, PretrainConfig(**{**vars(config), "steps": 3}), size="tiny", resume=True
        )
    metrics = pretrain(data, out, config, size="tiny", resume=True).metrics
    assert [entry["step"] for entry in metrics["evaluations"]] == [2]
    assert metrics["validation_rows"] == 0
    assert metrics["loss"] == pytest.approx(np.log(metrics["perplexity"]))
    assert "held out" not in summary(metrics)
    assert MaskedLM.from_preset(out)
