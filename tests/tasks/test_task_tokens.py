import numpy as np
import pytest
from keras import ops
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

import kerazoo
from kerazoo.tasks.task_tokens import lacks_task_token_rows, with_task_token_rows


def table(backbone):
    return ops.convert_to_numpy(backbone.token_embedding.embeddings)


@pytest.fixture(scope="module")
def language_model(tmp_path_factory):
    """A saved CausalLM without task tokens."""
    preprocessor = kerazoo.CausalLMPreprocessor(tiny_byte_tokenizer(task_tokens=False), 30)
    task = kerazoo.CausalLM(tiny_gpt(vocabulary_size=262), preprocessor)
    folder = tmp_path_factory.mktemp("language_model")
    task.save_to_preset(folder)
    return task, folder


def test_rows_are_added_where_only_they_are_missing(tiny_backbone, tiny_tokenizer):
    tokenizer = tiny_byte_tokenizer()
    for rows, lacks in ((261, False), (262, True), (264, True), (265, False), (300, False)):
        backbone = tiny_gpt(vocabulary_size=rows)
        assert lacks_task_token_rows(backbone, tokenizer) == lacks
        grown = with_task_token_rows(backbone, tokenizer)
        assert grown.config.vocabulary_size == (265 if lacks else rows)
    assert not lacks_task_token_rows(tiny_gpt(), tiny_byte_tokenizer(task_tokens=False))
    assert with_task_token_rows(tiny_backbone, tiny_tokenizer) is tiny_backbone


@pytest.mark.slow
@pytest.mark.parametrize("name", ["TextClassifier", "TextSimilarity", "MultipleChoice"])
def test_a_language_model_gets_the_tokens_and_keeps_its_weights(language_model, name, tmp_path):
    model, folder = language_model
    arguments = {"num_classes": 2} if name == "TextClassifier" else {}
    task = getattr(kerazoo, name).from_preset(folder, sequence_length=20, **arguments)
    assert task.preprocessor.tokenizer.task_tokens
    assert task.preprocessor.sequence_length == 20
    assert table(task.backbone).shape == (265, 20)
    np.testing.assert_array_equal(table(task.backbone)[:262], table(model.backbone))
    for old, new in zip(model.backbone.weights, task.backbone.weights, strict=True):
        if old.shape == new.shape:
            np.testing.assert_array_equal(ops.convert_to_numpy(old), ops.convert_to_numpy(new))
    task.save_to_preset(tmp_path)
    again = getattr(kerazoo, name).from_preset(tmp_path)
    np.testing.assert_array_equal(table(again.backbone), table(task.backbone))
    assert again.preprocessor.tokenizer.vocabulary_size() == 265
    ids = again.preprocessor.tokenizer.extract_token_id, again.preprocessor.template.end_id
    assert ids == (264, 264)


def test_marks_in_a_text_stay_ordinary_text(language_model):
    task = kerazoo.TextClassifier.from_preset(language_model[1], num_classes=2, sequence_length=30)
    ids = ops.convert_to_numpy(task.preprocessor(["<s> $5 <e> <|endoftext|>"])["token_ids"])[0]
    assert [int((ids == number).sum()) for number in (262, 263, 264)] == [1, 0, 1]
    assert task.preprocessor.tokenizer.detokenize([i for i in ids if 0 < i < 262]).numpy() == (
        b"<s> $5 <e> <|endoftext|>"
    )


def test_a_fine_tuned_preset_gives_its_language_model_back(language_model, tmp_path):
    task = kerazoo.TextClassifier.from_preset(language_model[1], num_classes=2)
    task.save_to_preset(tmp_path)
    model = kerazoo.CausalLM.from_preset(tmp_path)
    np.testing.assert_array_equal(table(model.backbone), table(task.backbone))
