"""Against BertForTokenClassification and the tokenizer of `transformers`, there and back."""

import json

import numpy as np
import pytest
from keras import ops
from tiny_token_classifier import LABELS
from tiny_transformers_bert import write_bert

from kerazoo import TextClassifier, TokenClassifier

pytestmark = pytest.mark.transformers

TEXTS = [
    "On Monday Ada came.",
    "小明和猫来了 😀.",
    "Cafe\u0301s, cated",
    "",
    "the cats came with a cat",
]


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A folder that `transformers` wrote, with a vocabulary."""
    folder = tmp_path_factory.mktemp("transformers") / "theirs"
    return write_bert(
        folder,
        "BertForTokenClassification",
        classifier_dropout=0.25,
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
    )


def their_logits(folder):
    """Logits and ids of texts that fit one window."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    batch = tokenizer(TEXTS, padding="max_length", max_length=16, return_tensors="pt")
    model = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        return model(**batch).logits.numpy(), batch["input_ids"].numpy(), model.config


def test_logits_are_equal_there_and_back_and_tensors_bit_for_bit(theirs, tmp_path):
    from safetensors.numpy import load_file

    task = TokenClassifier.from_preset(theirs, sequence_length=16)
    assert (task.labels, task.dropout) == (LABELS, 0.25)
    assert not task.load_report.unused
    assert all("pooler" in path for path in task.load_report.missing)
    features = task.windows(TEXTS).features
    with task.without_preprocessor():
        found = task.predict_on_batch({key: features[key] for key in task.input})
    found, real = ops.convert_to_numpy(found), features["padding_mask"] == 1
    task.export_to_transformers(tmp_path / "ours")
    for folder in (theirs, tmp_path / "ours"):
        logits, ids, config = their_logits(folder)
        np.testing.assert_array_equal(features["token_ids"], ids)
        np.testing.assert_allclose(found[real], logits[real], atol=1e-5)
        assert [config.id2label[number] for number in range(len(LABELS))] == LABELS
    first, second = (
        load_file(folder / "model.safetensors") for folder in (theirs, tmp_path / "ours")
    )
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name])
    config = json.loads((tmp_path / "ours" / "config.json").read_text())
    assert config["architectures"] == ["BertForTokenClassification"]
    assert "problem_type" not in config


def test_a_head_of_other_tags_or_of_another_task_is_new(theirs):
    other = TokenClassifier.from_preset(theirs, labels=["O", "B-X", "I-X"], sequence_length=16)
    assert any("classifier" in path for path in other.load_report.missing)
    with_crf = TokenClassifier.from_preset(theirs, crf=True, sequence_length=16)
    assert with_crf.labels == LABELS
    classifier = TextClassifier.from_preset(theirs, num_classes=2, sequence_length=16)
    assert any("classifier" in path for path in classifier.load_report.missing)


def test_the_command_converts_it_there_and_back(theirs, tmp_path):
    from kerazoo.cli.convert_checkpoint import convert_checkpoint

    result = convert_checkpoint(str(theirs), str(tmp_path / "preset"))
    assert result["kind"] == "token-classification"
    convert_checkpoint(str(tmp_path / "preset"), str(tmp_path / "back"), to="huggingface")
    np.testing.assert_array_equal(their_logits(theirs)[0], their_logits(tmp_path / "back")[0])
