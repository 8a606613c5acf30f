"""Against BertForMultipleChoice and the tokenizer of `transformers`, there and back."""

import json

import numpy as np
import pytest
from keras import ops
from tiny_transformers_bert import write_bert

from kerazoo import MultipleChoice, TextClassifier

pytestmark = pytest.mark.transformers

CONTEXTS = ["On Monday Ada came.", "小明和猫", "the cats"]
CHOICES = [["with a cat", "was a cat"], ["来了 😀", "Cafe\u0301s"], ["who?", "came"]]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A folder that `transformers` wrote, with a vocabulary."""
    folder = tmp_path_factory.mktemp("transformers") / "theirs"
    return write_bert(folder, "BertForMultipleChoice", classifier_dropout=0.25)


def their_logits(folder):
    """Logits and ids of questions that fit one row, (3, 2) and (3, 2, 14)."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    batch = tokenizer(
        [context for context in CONTEXTS for _ in range(2)],
        [choice for row in CHOICES for choice in row],
        padding="max_length",
        max_length=14,
        return_tensors="pt",
    )
    batch = {key: value.reshape(3, 2, 14) for key, value in batch.items()}
    model = transformers.AutoModelForMultipleChoice.from_pretrained(folder).eval()
    with torch.no_grad():
        return model(**batch).logits.numpy(), batch["input_ids"].numpy()


def test_logits_are_equal_there_and_back_and_tensors_bit_for_bit(theirs, tmp_path):
    from safetensors.numpy import load_file

    task = MultipleChoice.from_preset(theirs, sequence_length=14)
    assert task.dropout == 0.25
    assert not task.load_report.unused and not task.load_report.missing
    rows = {"context": CONTEXTS, "choices": CHOICES}
    found = ops.convert_to_numpy(task.predict(rows, verbose=0))
    features = task.preprocessor(rows)
    task.export_to_transformers(tmp_path / "ours")
    for folder in (theirs, tmp_path / "ours"):
        logits, ids = their_logits(folder)
        np.testing.assert_array_equal(ops.convert_to_numpy(features["token_ids"]), ids)
        np.testing.assert_allclose(found, logits, atol=1e-5)
    assert np.ptp(found) > 1e-2
    first, second = (
        load_file(folder / "model.safetensors") for folder in (theirs, tmp_path / "ours")
    )
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
    config = json.loads((tmp_path / "ours" / "config.json").read_text())
    assert config["architectures"] == ["BertForMultipleChoice"]
    assert config["classifier_dropout"] == 0.25
    assert "problem_type" not in config


def test_a_head_of_another_pooling_or_task_is_new(theirs, tmp_path):
    other = MultipleChoice.from_preset(theirs, pooling="mean", sequence_length=14)
    assert any("classifier" in path for path in other.load_report.missing)
    with pytest.raises(ValueError, match=r"reads the pooled \[CLS\] vector only.*pooling='mean'"):
        other.export_to_transformers(tmp_path / "mean")
    classifier = TextClassifier.from_preset(theirs, num_classes=2, sequence_length=14)
    assert any("classifier" in path for path in classifier.load_report.missing)


def test_the_command_converts_it_there_and_back(theirs, tmp_path):
    from kerazoo.cli.convert_checkpoint import convert_checkpoint

    result = convert_checkpoint(str(theirs), str(tmp_path / "preset"))
    assert result["kind"] == "multiple-choice"
    convert_checkpoint(str(tmp_path / "preset"), str(tmp_path / "back"), to="huggingface")
    np.testing.assert_array_equal(their_logits(theirs)[0], their_logits(tmp_path / "back")[0])
