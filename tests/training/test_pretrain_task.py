import pytest

from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.pretrain_task import family_of_size, load_task, new_task


@pytest.mark.parametrize(
    ("objective", "class_name"), [("bert", "BertPretrainer"), ("bert-mlm", "MaskedLM")]
)
def test_a_new_bert_has_the_vocabulary_and_the_positions_of_the_rows(
    tiny_tokenizer, objective, class_name
):
    config = PretrainConfig(masking="ngram", mask_selection_length=5)
    task = new_task("tiny", objective, 19, tiny_tokenizer, config)
    assert type(task).__name__ == class_name
    assert task.backbone.config.vocabulary_size == tiny_tokenizer.vocabulary_size()
    assert task.backbone.config.max_sequence_length == 19
    assert task.backbone.config.num_layers == 2
    assert task.preprocessor.sequence_length == 19
    assert task.preprocessor.masker.masking == "ngram"
    assert task.preprocessor.masker.mask_selection_length == 5


def test_a_new_gpt_with_more_positions_than_its_rows_have(tiny_bpe_tokenizer):
    config = PretrainConfig(max_sequence_length=23, precision="mixed_bfloat16")
    task = new_task("gpt2_tiny", "gpt", 19, tiny_bpe_tokenizer, config)
    assert type(task).__name__ == "CausalLM"
    assert task.backbone.config.max_sequence_length == 23
    assert task.preprocessor.sequence_length == 19
    assert task.backbone.dtype_policy.name == "mixed_bfloat16"


def test_families_of_sizes():
    assert family_of_size("tiny") == "bert"
    assert family_of_size("gpt2_mini") == "gpt"
    with pytest.raises(ValueError, match="`size` must be one of .*'mini'.*size='minny'"):
        family_of_size("minny")


@pytest.mark.parametrize(("size", "objective"), [("tiny", "gpt"), ("gpt2_tiny", "bert-mlm")])
def test_a_family_learns_its_own_objectives(tiny_tokenizer, size, objective):
    with pytest.raises(ValueError, match=f"size='{size}', objective='{objective}'"):
        new_task(size, objective, 19, tiny_tokenizer, PretrainConfig())


def test_rows_longer_than_a_new_models_positions(tiny_tokenizer):
    config = PretrainConfig(max_sequence_length=12)
    with pytest.raises(ValueError, match="at most 12 positions.*sequence_length=19"):
        new_task("tiny", "bert-mlm", 19, tiny_tokenizer, config)


def test_rows_longer_than_a_checkpoint_reads(preset, tiny_tokenizer):
    with pytest.raises(ValueError, match="at most 11 positions.*sequence_length=19"):
        load_task(str(preset), "bert-mlm", 19, tiny_tokenizer, PretrainConfig())


def test_a_checkpoint_without_the_head_gets_one(preset, tiny_tokenizer):
    config = PretrainConfig(masking="whole_word")
    task = load_task(str(preset), "bert", 9, tiny_tokenizer, config)
    assert type(task).__name__ == "BertPretrainer"
    assert task.backbone.trainable
    assert task.preprocessor.masker.masking == "whole_word"
