"""Against BertForQuestionAnswering and the tokenizer of `transformers`, there and back."""

import numpy as np
import pytest
from keras import ops
from tiny_extractive_qa import LONG, ROWS, questions
from tiny_transformers_bert import write_bert

from kerazoo import ExtractiveQA

pytestmark = pytest.mark.transformers


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """A folder that `transformers` wrote, with a vocabulary."""
    folder = tmp_path_factory.mktemp("transformers") / "theirs"
    return write_bert(folder, "BertForQuestionAnswering")


def their_logits(folder, rows):
    """Start and end logits of questions that fit one window, and where padding is not."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    columns = questions(rows)
    batch = tokenizer(
        columns["question"],
        columns["context"],
        padding="max_length",
        max_length=16,
        return_tensors="pt",
    )
    model = transformers.AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    with torch.no_grad():
        outputs = model(**batch)
    return outputs.start_logits.numpy(), outputs.end_logits.numpy(), batch


def test_logits_are_equal_there_and_back_and_tensors_bit_for_bit(theirs, tmp_path):
    from safetensors.numpy import load_file

    task = ExtractiveQA.from_preset(theirs, sequence_length=16)
    assert not task.load_report.unused
    assert all("pooler" in path for path in task.load_report.missing)
    rows = [row for row in ROWS if row[1] != LONG]
    features = task.windows(questions(rows)).features
    task.export_to_transformers(tmp_path / "ours")
    for folder in (theirs, tmp_path / "ours"):
        start, end, batch = their_logits(folder, rows)
        np.testing.assert_array_equal(features["token_ids"], batch["input_ids"].numpy())
        for mask in (features["answer_mask"], features["padding_mask"]):
            with task.without_preprocessor():
                inputs = {**features, "answer_mask": mask}
                outputs = task.predict_on_batch({key: inputs[key] for key in task.input})
            for key, expected in (("start_logits", start), ("end_logits", end)):
                found = ops.convert_to_numpy(outputs[key])
                np.testing.assert_allclose(found[mask == 1], expected[mask == 1], atol=1e-5)
    first, second = (
        load_file(folder / "model.safetensors") for folder in (theirs, tmp_path / "ours")
    )
    assert first.keys() == second.keys()
    for name, tensor in first.items():
        np.testing.assert_array_equal(tensor, second[name])


def test_windows_are_those_of_an_overlapping_tokenizer(theirs):
    """`transformers` gives the overlap, kerazoo the step."""
    import transformers

    task = ExtractiveQA.from_preset(theirs, sequence_length=16, stride=5)
    tokenizer = transformers.AutoTokenizer.from_pretrained(theirs)
    room = 16 - 3 - 3
    batch = tokenizer(
        "who came?",
        LONG,
        truncation="only_second",
        max_length=16,
        stride=room - 5,
        return_overflowing_tokens=True,
        padding="max_length",
        return_tensors="np",
    )
    features = task.windows({"question": ["who came?"], "context": [LONG]}).features
    assert len(features["token_ids"]) > 3
    np.testing.assert_array_equal(features["token_ids"], batch["input_ids"])
    np.testing.assert_array_equal(features["segment_ids"], batch["token_type_ids"])
