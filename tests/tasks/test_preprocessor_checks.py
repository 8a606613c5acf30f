import pytest
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

from kerazoo import TextClassifierPreprocessor
from kerazoo.tasks.preprocessor_checks import check_preprocessor


def preprocessor(tokenizer, length=9):
    return TextClassifierPreprocessor(tokenizer, sequence_length=length)


def test_what_fits_is_accepted(tiny_backbone, tiny_tokenizer):
    check_preprocessor(preprocessor(tiny_tokenizer), tiny_backbone)
    check_preprocessor(preprocessor(tiny_byte_tokenizer()), tiny_gpt())
    check_preprocessor(preprocessor(tiny_byte_tokenizer()), tiny_gpt(vocabulary_size=300))


def test_what_does_not_fit_is_said_with_the_remedy(tiny_backbone, tiny_tokenizer):
    with pytest.raises(ValueError, match="at most 11 positions.*Received: sequence_length=12"):
        check_preprocessor(preprocessor(tiny_tokenizer, 12), tiny_backbone)
    with pytest.raises(ValueError, match="31.*belong to different models"):
        check_preprocessor(preprocessor(tiny_byte_tokenizer()), tiny_backbone)
    backbone = tiny_gpt(vocabulary_size=262)
    with pytest.raises(ValueError, match=r"tokenizer\.with_task_tokens\(\).*resize_vocabulary"):
        check_preprocessor(preprocessor(tiny_byte_tokenizer(task_tokens=False)), backbone)
    with pytest.raises(ValueError, match=r"resize_vocabulary\(backbone, 265\).*262 embeddings"):
        check_preprocessor(preprocessor(tiny_byte_tokenizer()), backbone)
