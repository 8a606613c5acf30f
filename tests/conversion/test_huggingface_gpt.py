import json

import numpy as np
import pytest
from gpt_checkpoint import (
    CONFIGS,
    EMBEDDINGS,
    FakeModel,
    random_tensors,
    with_prefix,
    write_folder,
)
from keras import ops
from safetensors.numpy import load_file
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

from kerazoo import CausalLM, CausalLMPreprocessor, GPTBackbone, TextClassifier
from kerazoo.conversion.huggingface import huggingface_tensors, save_huggingface
from kerazoo.conversion.huggingface_config import read_huggingface_config
from kerazoo.conversion.model_types import GPT2, MODEL_TYPES
from kerazoo.conversion.source import open_checkpoint

KINDS = pytest.mark.parametrize("kind", CONFIGS)


def make(normalize_first=True, **changes):
    fields = {"vocabulary_size": 31, "num_layers": 2, "num_heads": 4, "hidden_dim": 20}
    fields |= {"intermediate_dim": 80, "max_sequence_length": 11, **changes}
    return GPTBackbone(normalize_first=normalize_first, **fields)


def check_equal(actual, wanted):
    assert actual.keys() == wanted.keys()
    for name in wanted:
        np.testing.assert_array_equal(actual[name], wanted[name], err_msg=name)


@KINDS
@pytest.mark.parametrize("task_name", [None, "causal-lm"])
def test_read_and_written_again_is_bit_equal(tmp_path, kind, task_name):
    stored = random_tensors(kind) if task_name is None else with_prefix(random_tensors(kind))
    classes = MODEL_TYPES[kind].architectures
    config = CONFIGS[kind] | {"architectures": [classes[task_name]]}
    folder = write_folder(tmp_path / "in", config, stored)
    source = open_checkpoint(folder)
    assert (source.family, source.task_name(), source.labels()) == ("gpt", task_name, None)
    assert source.task_config("text-classification") == {}
    model = FakeModel(kind)
    source.load_backbone(model)
    fields = read_huggingface_config(folder)
    save_huggingface(model, fields, tmp_path / "out", family="gpt", task_name=task_name)
    check_equal(load_file(tmp_path / "out" / "model.safetensors"), stored)
    written = json.loads((tmp_path / "out" / "config.json").read_text())
    assert {key: written[key] for key in config} == config


@KINDS
def test_a_real_backbone(tmp_path, kind):
    backbone = make(normalize_first=kind == "gpt2")
    backbone.export_to_transformers(tmp_path / "out")
    again = GPTBackbone.from_preset(tmp_path / "out")
    assert again.config == backbone.config
    assert again.load_report.is_complete
    for mine, other in zip(backbone.weights, again.weights, strict=True):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(other), err_msg=mine.path)


def test_the_output_matrix_is_not_stored(tmp_path):
    CausalLM(make()).export_to_transformers(tmp_path / "out")
    names = set(load_file(tmp_path / "out" / "model.safetensors"))
    assert names == set(with_prefix(random_tensors("gpt2")))
    assert open_checkpoint(tmp_path / "out").task_name() == "causal-lm"


def test_lora_is_added_into_its_part_of_the_fused_tensor():
    backbone = make()
    before = huggingface_tensors(backbone, with_head=False, model_type=GPT2)
    backbone.enable_lora(rank=2)
    random = np.random.default_rng(5)
    for variable in backbone.weights:
        if "lora" in variable.path and "/query/" in variable.path:
            variable.assign(random.standard_normal(variable.shape))
    after = huggingface_tensors(backbone, with_head=False, model_type=GPT2)
    for name in before:
        moved = (before[name] != after[name]).reshape(-1, before[name].shape[-1]).any(axis=0)
        fused = name.endswith("c_attn.weight")
        assert moved.tolist() == [fused and column < 20 for column in range(moved.size)], name


def test_a_task_without_an_equal_head_is_refused_and_nothing_is_written(tmp_path):
    task = TextClassifier(make(), labels=["bad", "good"])
    with pytest.raises(ValueError, match=r"GPT-2 has no head.*backbone\.export_to_transformers"):
        task.export_to_transformers(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_weight_without_a_name():
    model = FakeModel("gpt2")
    model.variables[3].path = "crf/transitions"
    with pytest.raises(ValueError, match="GPT-2 has no name for.*Received: crf/transitions"):
        huggingface_tensors(model, with_head=True, model_type=GPT2)


@pytest.mark.transformers
@KINDS
def test_transformers_reads_what_is_written(tmp_path, kind):
    """Equal weights and, within 1e-5, equal logits; the matrix is tied there too."""
    import torch
    import transformers

    backbone = make(normalize_first=kind == "gpt2", initializer_range=0.3)
    task = CausalLM(backbone)
    task.export_to_transformers(tmp_path / "task")
    backbone.export_to_transformers(tmp_path / "backbone")
    written = transformers.AutoModelForCausalLM.from_pretrained(
        tmp_path / "task", attn_implementation="eager"
    ).eval()
    bare = transformers.AutoModel.from_pretrained(tmp_path / "backbone").eval()
    assert type(written).__name__ == MODEL_TYPES[kind].architectures["causal-lm"]
    assert type(bare).__name__ == MODEL_TYPES[kind].architectures[None]
    embedding = written.transformer.state_dict()[EMBEDDINGS[kind][0]]
    assert written.lm_head.weight.data_ptr() == embedding.data_ptr()
    random = np.random.default_rng(6)
    ids, mask = random.integers(31, size=(3, 7)), np.ones((3, 7), "int64")
    mask[2, 5:] = 0
    with torch.no_grad():
        inputs = {"input_ids": torch.tensor(ids), "attention_mask": torch.tensor(mask)}
        logits = written(**inputs).logits.numpy()
        states = bare(**inputs).last_hidden_state.numpy()
    ours = {"token_ids": ids.astype("int32"), "padding_mask": mask.astype("int32")}
    np.testing.assert_allclose(ops.convert_to_numpy(task(ours)), logits, atol=1e-5)
    output = ops.convert_to_numpy(backbone(ours)["sequence_output"])
    real = mask.astype(bool)
    np.testing.assert_allclose(output[real], states[real], atol=1e-5)
    assert np.ptp(logits) > 1


@pytest.mark.transformers
def test_texts_give_the_logits_of_transformers(tmp_path):
    """With the tokenizer's files: equal ids, special ids and, within 1e-5, logits."""
    import torch
    import transformers

    preprocessor = CausalLMPreprocessor(tiny_byte_tokenizer(False), sequence_length=9)
    task = CausalLM(tiny_gpt(vocabulary_size=262), preprocessor)
    task.export_to_transformers(tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    written = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "out").eval()
    ids = (written.config.bos_token_id, written.config.eos_token_id, written.config.pad_token_id)
    assert ids == (0, 0, 0) == (tokenizer.bos_token_id, tokenizer.eos_token_id, 0)
    texts = ["the food, the fool", "Ä"]
    tokenizer.pad_token = tokenizer.eos_token
    batch = tokenizer(texts, padding="max_length", truncation=True, max_length=9)
    with torch.no_grad():
        inputs = {name: torch.tensor(batch[name]) for name in ("input_ids", "attention_mask")}
        logits = written(**inputs).logits.numpy()
    features = task.preprocessor(texts)[0]
    mask = ops.convert_to_numpy(features["padding_mask"]).astype(bool)
    their_mask = np.array(batch["attention_mask"], bool)
    ours = ops.convert_to_numpy(features["token_ids"])
    # kerazoo's rows for training hold the end token too.
    np.testing.assert_array_equal(ours[their_mask], np.array(batch["input_ids"])[their_mask])
    assert (mask & their_mask).sum() == their_mask.sum()
    np.testing.assert_allclose(
        ops.convert_to_numpy(task(features))[their_mask], logits[their_mask], atol=1e-5
    )
