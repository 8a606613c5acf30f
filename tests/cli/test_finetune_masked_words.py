"""Masked words and next sentences at the shell: train, measure, ask, export."""

import json
import shutil

import pytest

TEXTS = ["the film was good", "dull play", "not very good", "a great film", "is it bad?"] * 3


@pytest.fixture(scope="module")
def pretrained(make_tiny_bert_pretrainer, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "pretrained"
    make_tiny_bert_pretrainer().save_to_preset(folder)
    return folder


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    file = tmp_path_factory.mktemp("texts") / "train.txt"
    file.write_text("\n".join(TEXTS) + "\n")
    return file


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    file = tmp_path_factory.mktemp("texts") / "pairs.tsv"
    rows = [f"{a}\t{b}\t{n % 2}" for n, (a, b) in enumerate(zip(TEXTS, TEXTS[1:], strict=False))]
    file.write_text("\n".join(["text\ttext_pair\tlabel", *rows]) + "\n")
    return file


@pytest.fixture(scope="module")
def masked_lm(command, pretrained, texts, tmp_path_factory):
    """The folder of a masked language model that the shell trained."""
    folder = tmp_path_factory.mktemp("runs") / "masked_lm"
    options = ["--preset", pretrained, "--train", texts, "--output", folder, "--epochs", 1]
    options += ["--masking", "whole_word", "--mask-selection-rate", 0.25, "--batch-size", 7]
    result = command("finetune", "masked-lm", *options)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("masked accuracy 0.")
    return folder


@pytest.mark.slow
def test_a_run_keeps_how_it_masked(masked_lm):
    metrics = json.loads((masked_lm / "metrics.json").read_text())
    assert metrics["task"] == "masked-lm"
    assert metrics["perplexity"] > 1
    preprocessor = json.loads((masked_lm / "preprocessor.json").read_text())["config"]
    assert preprocessor["masking"] == "whole_word"
    assert preprocessor["mask_selection_rate"] == 0.25


@pytest.mark.slow
def test_it_is_measured_and_shown(command, masked_lm, texts):
    result = command("evaluate", masked_lm, "--data", texts)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("loss ")
    assert result.stdout.endswith(" on 15 rows\n")
    shown = json.loads(command("show", masked_lm, "--json").stdout)
    assert shown["task"] == "masked-lm"


@pytest.mark.slow
def test_masks_are_filled_by_preset_and_export_alike(command, masked_lm, tmp_path):
    result = command("export", masked_lm, "--output", tmp_path / "filler")
    assert result.exit_code == 0, result.stderr
    assert '{"instances": ["some [MASK] text"]}' in result.stdout
    asked = ["--text", "a [MASK] film", "--text", "[MASK] was [MASK]"]
    answers = []
    for model in (masked_lm, tmp_path / "filler"):
        result = command("predict", model, *asked)
        assert result.exit_code == 0, result.stderr
        answers.append([json.loads(line) for line in result.stdout.splitlines()])
    for mine, served in zip(*answers, strict=True):
        assert list(mine) == list(served) == ["text", "filled_text", "masks"]
        assert mine["filled_text"] == served["filled_text"]
        for left, right in zip(mine["masks"], served["masks"], strict=True):
            assert left["position"] == right["position"]
            assert left["tokens"] == right["tokens"]
            assert left["scores"] == pytest.approx(right["scores"], abs=1e-5)
    assert [mask["position"] for mask in answers[0][1]["masks"]] == [0, 11]
    (tmp_path / "asked.txt").write_text("a [MASK] film\n" * 52 + "no mask\n")
    for model, message in (
        (masked_lm, "the text has no [MASK]"),
        (tmp_path / "filler", "the model fills in masks, and the text has none"),
    ):
        result = command("predict", model, "--text", "[MASK]", "--text", "no mask")
        assert result.exit_code == 1
        assert f"Error: --text number 2: {message}" in result.stderr
        options = ("--input", tmp_path / "asked.txt", "--batch-size", 3)
        result = command("predict", model, *options)
        assert f"asked.txt, line 53: {message}" in result.stderr
        assert len(result.stdout.splitlines()) == 3 + 3 * 16
    result = command("evaluate", tmp_path / "filler", "--data", "-", input="a text\n")
    assert result.exit_code == 1
    assert "measured on a preset" in result.stderr


@pytest.mark.slow
def test_next_sentences(command, pretrained, pairs, tmp_path):
    options = ["--preset", pretrained, "--train", pairs, "--output", tmp_path / "out"]
    result = command("finetune", "next-sentence", *options, "--epochs", 1)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("accuracy ")
    result = command("evaluate", tmp_path / "out", "--data", pairs, "--json")
    assert list(json.loads(result.stdout)["labels"]) == ["next", "random"]
    result = command("predict", tmp_path / "out", "--text", "a film", "--text-pair", "it was bad")
    assert json.loads(result.stdout)["label"] in ("next", "random")


@pytest.mark.slow
def test_both_together(command, pretrained, pairs, tmp_path):
    options = ["--preset", pretrained, "--train", pairs, "--output", tmp_path / "out"]
    result = command("finetune", "bert-pretraining", *options, "--epochs", 1)
    assert result.exit_code == 0, result.stderr
    assert "next-sentence accuracy" in result.stdout
    result = command("predict", tmp_path / "out", "--text", "a [MASK]")
    assert result.exit_code == 0, result.stderr
    assert len(json.loads(result.stdout)["masks"]) == 1


@pytest.mark.parametrize(
    ("task", "options", "code", "message"),
    [
        ("masked-lm", ["--masking", "words"], 2, "Invalid value for '--masking'"),
        ("masked-lm", ["--mask-selection-rate", 1.5], 1, "mask_selection_rate=1.5"),
        ("text-classification", ["--masking", "token"], 2, "No such option"),
        ("masked-lm", ["--class-weight", "balanced"], 2, "No such option"),
    ],
)
def test_unfit_settings_are_told(
    command, pretrained, texts, tmp_path, task, options, code, message
):
    arguments = ["--preset", pretrained, "--train", texts, "--output", tmp_path / "out"]
    result = command("finetune", task, *arguments, *options)
    assert result.exit_code == code
    assert message in result.stderr


def test_a_damaged_head_is_named(command, masked_lm, tmp_path):
    damaged = shutil.copytree(masked_lm, tmp_path / "damaged")
    weights = damaged / "task.weights.h5"
    weights.write_bytes(weights.read_bytes()[:900])
    result = command("predict", damaged, "--text", "[MASK]")
    assert result.exit_code == 1
    assert "task.weights.h5" in result.stderr
