import json
import os

import h5py
import numpy as np
import pytest

from kerazoo import TextClassifier
from kerazoo.training import finetune as module
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.finetune import finetune

TASK = "text-classification"


@pytest.fixture
def files(tmp_path):
    texts = ["the film was good", "a great play", "dull , very dull", "bad", "not bad", "great !"]
    labels = ["good", "good", "bad", "bad", "good", "good"]
    lines = [f"{text}\t{label}" for text, label in zip(texts, labels, strict=True)]
    train, validation = tmp_path / "train.tsv", tmp_path / "validation.tsv"
    train.write_text("\n".join(["text\tlabel", *lines * 3]) + "\n")
    validation.write_text("\n".join(["text\tlabel", *lines, "\tbad"]) + "\n")
    return str(train), str(validation)


@pytest.fixture
def run(preset, files, tmp_path):
    def with_settings(name="out", validation=files[1], **settings):
        config = FinetuneConfig(**{"epochs": 1, "batch_size": 5, **settings})
        return finetune(TASK, str(preset), files[0], validation, tmp_path / name, config)

    return with_settings


def weights(folder):
    found = {}

    def add(name, node):
        if isinstance(node, h5py.Dataset):
            found[f"{file}/{name}"] = np.array(node)

    for file in ("model.weights.h5", "task.weights.h5"):
        with h5py.File(folder / file) as content:
            content.visititems(add)
    return found


def moved(before, after):
    a, b = weights(before), weights(after)
    assert set(a) == set(b)
    return {name for name in a if a[name].shape != b[name].shape or np.any(a[name] != b[name])}


@pytest.mark.slow
@pytest.mark.compiled
def test_model_metrics_and_settings_are_written(run, tmp_path):
    result = run(learning_rate=1e-2, epochs=4, batch_size=6)
    assert result.folder == tmp_path / "out"
    metrics = json.loads((result.folder / "metrics.json").read_text())
    assert metrics == result.metrics
    assert (metrics["train_rows"], metrics["validation_rows"], metrics["rows"]) == (18, 7, 7)
    assert len(metrics["epochs"]) == 4
    assert metrics["epochs"][-1]["loss"] < metrics["epochs"][0]["loss"]
    assert metrics["accuracy"] == pytest.approx(metrics["epochs"][-1]["val_accuracy"], abs=1e-6)
    assert metrics["loss"] == pytest.approx(metrics["epochs"][-1]["val_loss"], abs=1e-5)
    settings = FinetuneConfig.from_file(result.folder / "training_config.json")
    assert settings == FinetuneConfig(epochs=4, batch_size=6, learning_rate=1e-2)
    assert sorted(os.listdir(tmp_path)) == ["out", "train.tsv", "validation.tsv"]
    task = TextClassifier.from_preset(str(result.folder))
    assert task.labels == ["bad", "good"]
    assert task.preprocessor.pad_to_multiple_of is None


@pytest.mark.slow
@pytest.mark.compiled
def test_the_same_seed_gives_the_same_weights(run):
    # A batch of another size would be traced again.
    first, again = (run(name, seed=1, batch_size=9).folder for name in ("first", "again"))
    assert moved(first, again) == set()


@pytest.mark.slow
def test_a_frozen_backbone_does_not_move(run, preset, tmp_path):
    frozen = run("frozen", freeze_backbone=True).folder
    assert moved(preset, frozen)
    assert all(name.startswith("task.weights.h5") for name in moved(preset, frozen))
    # And it trains again when it is asked to.
    config = FinetuneConfig(epochs=1)
    train = str(tmp_path / "train.tsv")
    thawed = finetune(TASK, str(frozen), train, train, tmp_path / "thawed", config).folder
    assert any("query/vars" in name for name in moved(frozen, thawed))


@pytest.mark.slow
def test_pooling_is_kept_when_training_goes_on(run, tmp_path):
    folder = run("mean", pooling="mean").folder
    assert TextClassifier.from_preset(str(folder)).pooling == "mean"
    train = str(tmp_path / "train.tsv")
    again = finetune(TASK, str(folder), train, train, tmp_path / "on", FinetuneConfig(epochs=1))
    assert TextClassifier.from_preset(str(again.folder)).pooling == "mean"


def test_a_rank_above_the_width_is_refused(run, tmp_path):
    with pytest.raises(ValueError, match="Received: lora_rank=100000"):
        run(lora_rank=100_000)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_lora_moves_its_kernels_and_is_merged_into_them(run, preset):
    folder = run("lora", lora_rank=2).folder
    backbone = {name for name in moved(preset, folder) if name.startswith("model.weights.h5")}
    assert backbone
    assert all("query" in name or "value" in name for name in backbone)
    assert not any("lora" in name for name in weights(folder))


@pytest.mark.slow
def test_half_precision_trains_and_is_read_back(run):
    folder = run("half", precision="mixed_bfloat16").folder
    task = TextClassifier.from_preset(str(folder))
    assert task.backbone.dtype_policy.name == "float32"
    kinds = {v.dtype.name for name, v in weights(folder).items() if "seed_generator" not in name}
    assert kinds == {"float32"}


@pytest.mark.slow
def test_balanced_weights_reach_the_loss(run, monkeypatch):
    seen = {}
    original = TextClassifier.fit

    def fit(self, *arguments, **options):
        seen.update(options)
        return original(self, *arguments, **options)

    monkeypatch.setattr(TextClassifier, "fit", fit)
    run("balanced", class_weight="balanced")
    assert seen["class_weight"] == {"good": 18 / (2 * 12), "bad": 18 / (2 * 6)}


@pytest.mark.slow
def test_rows_are_held_out_without_a_validation_file(run):
    metrics = run(validation=None, validation_fraction=0.25).metrics
    assert (metrics["train_rows"], metrics["validation_rows"]) == (13, 5)
    assert metrics["validation"] is None


def test_truncated_texts_are_counted_and_said_once(preset, files, tmp_path, capsys):
    from kerazoo.training.progress import Progress

    config = FinetuneConfig(epochs=1, sequence_length=5)
    arguments = (TASK, str(preset), *files, tmp_path / "out", config, Progress())
    assert finetune(*arguments).metrics["truncated_rows"] == 8
    said = [line for line in capsys.readouterr().err.splitlines() if "truncated" in line]
    assert said == [
        "8 of 25 texts are longer than 5 tokens and are truncated "
        "(--sequence-length raises the limit)."
    ]


def test_a_sequence_longer_than_the_backbone_is_refused(run, tmp_path):
    with pytest.raises(ValueError, match="at most 11 tokens .* sequence_length=12"):
        run(sequence_length=12)
    assert not (tmp_path / "out").exists()


@pytest.fixture
def no_model(monkeypatch):
    """Loading a model is an error: what is wrong must be told before."""

    def refuse(*arguments):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(module, "_load_task", refuse)


def test_an_unknown_label_in_the_validation_file_is_told_first(no_model, run, files):
    with open(files[1], "a") as file:
        file.write("fine\texcellent\n")
    with pytest.raises(
        ValueError, match=r"validation\.tsv, line 9: the label 'excellent'.*bad, good"
    ):
        run()


def test_another_model_in_the_output_folder_is_told_first_and_kept(no_model, run, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "config.json").write_text("precious")
    with pytest.raises(FileExistsError, match="something at the output path"):
        run()
    assert (tmp_path / "out" / "config.json").read_text() == "precious"


def test_pairs_in_only_one_file_are_told_first(no_model, run, files):
    with open(files[1], "w") as file:
        file.write("text\ttext_pair\tlabel\na\tb\tgood\n")
    with pytest.raises(ValueError, match=r"validation\.tsv has the column `text_pair` and .*train"):
        run()


def test_standard_input_cannot_be_both_files(no_model, tmp_path):
    with pytest.raises(ValueError, match="Only one"):
        finetune(TASK, "x", "-", "-", tmp_path / "out")


def test_an_unknown_task_is_told_first(no_model, files, tmp_path):
    with pytest.raises(ValueError, match="task='ner'"):
        finetune("ner", "x", *files, tmp_path / "out")


def test_a_failed_run_leaves_nothing(run, monkeypatch, tmp_path):
    monkeypatch.setattr(
        TextClassifier, "fit", lambda *a, **k: (_ for _ in ()).throw(OSError("full"))
    )
    with pytest.raises(OSError, match="full"):
        run()
    assert sorted(os.listdir(tmp_path)) == ["train.tsv", "validation.tsv"]


@pytest.mark.slow
def test_pairs_train_and_are_remembered(preset, tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("text\ttext_pair\tlabel\n" + "good film\tgreat play\tyes\nbad\tgood\tno\n" * 3)
    arguments = (TASK, str(preset), str(file), str(file), tmp_path / "out")
    folder = finetune(*arguments, FinetuneConfig(epochs=1)).folder
    task = TextClassifier.from_preset(str(folder))
    assert task.pairs is True
    assert task.labels == ["no", "yes"]


@pytest.mark.slow
def test_the_schedule_counts_the_last_smaller_batch(run, monkeypatch):
    from kerazoo.training import optimizer

    seen = []
    original = optimizer.WarmupLinearDecay

    def remembered(*arguments):
        seen.append(arguments)
        return original(*arguments)

    monkeypatch.setattr(optimizer, "WarmupLinearDecay", remembered)
    run(epochs=2, learning_rate=0.25)
    assert seen == [(0.25, 0, 8)]  # 18 rows in batches of 5, twice; a tenth of it is no whole step


def test_a_preset_without_tokenizer_is_told(make_tiny_backbone, files, tmp_path):
    make_tiny_backbone().save_to_preset(str(tmp_path / "bare"))
    with pytest.raises(ValueError, match="bare has no tokenizer, so texts cannot be read"):
        finetune(TASK, str(tmp_path / "bare"), *files, tmp_path / "out", FinetuneConfig(epochs=1))
    assert not (tmp_path / "out").exists()
