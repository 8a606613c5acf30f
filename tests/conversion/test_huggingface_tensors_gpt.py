import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from gpt_checkpoint import (
    CONFIGS,
    EMBEDDINGS,
    FakeModel,
    expected_values,
    random_tensors,
    with_prefix,
    write_folder,
)
from safetensors.numpy import save_file

from kerazoo.conversion.huggingface_tensors import open_huggingface
from kerazoo.conversion.loading import load_weights

KINDS = pytest.mark.parametrize("kind", CONFIGS)
BUFFERS = {
    "h.0.attn.bias": np.tril(np.ones((11, 11), "float32"))[None, None],
    "h.1.attn.bias": np.tril(np.ones((11, 11), "uint8"))[None, None],
    "h.1.attn.masked_bias": np.array(-1e4, "float32"),
    "position_ids": np.arange(11),
}


def load(folder, kind):
    model = FakeModel(kind)
    return model.values, load_weights(model.variables, open_huggingface(folder))


def check(folder, kind, tensors):
    values, report = load(folder, kind)
    assert report.is_complete, str(report)
    wanted = expected_values(kind, tensors)
    assert values().keys() == wanted.keys()
    for path, value in values().items():
        np.testing.assert_array_equal(value, wanted[path], err_msg=path)


@KINDS
@pytest.mark.parametrize("prefixed", [False, True])
@pytest.mark.parametrize("buffers", [False, True])
@pytest.mark.parametrize("output_matrix", [False, True])
def test_every_spelling_of_the_names(tmp_path, kind, prefixed, buffers, output_matrix):
    tensors = random_tensors(kind)
    stored = tensors | (BUFFERS if buffers else {})
    stored = with_prefix(stored) if prefixed else stored
    if output_matrix:
        stored = stored | {"lm_head.weight": tensors[EMBEDDINGS[kind][0]]}
    check(write_folder(tmp_path / "gpt", CONFIGS[kind], stored), kind, tensors)


def test_only_the_constants_are_ignored_by_name(tmp_path):
    stored = random_tensors("gpt2")
    others = {"h.0.attn.bias.more", "h.attn.bias", "h.0.mlp.bias", "score.weight"}
    stored |= dict.fromkeys(others, np.zeros(3, "float32"))
    _, report = load(write_folder(tmp_path / "gpt", CONFIGS["gpt2"], stored), "gpt2")
    assert set(report.unused) == others


@KINDS
@pytest.mark.parametrize("change", ["value", "shape"])
def test_an_output_matrix_of_its_own_is_refused(tmp_path, kind, change):
    tensors = random_tensors(kind)
    matrix = tensors[EMBEDDINGS[kind][0]].copy()
    if change == "value":
        matrix[30, 19] += 1e-6
    matrix = matrix if change == "value" else matrix[:30]
    stored = with_prefix(tensors) | {"lm_head.weight": matrix}
    folder = write_folder(tmp_path / "gpt", CONFIGS[kind], stored)
    with pytest.raises(ValueError, match="tie_word_embeddings=false.*'lm_head.weight'"):
        open_huggingface(folder)


@pytest.mark.parametrize("prefix", ["module.transformer.", "gpt.", "model."])
def test_an_unknown_prefix_is_named(tmp_path, prefix):
    tensors = {prefix + name: values for name, values in random_tensors("gpt2").items()}
    folder = write_folder(tmp_path / "gpt", CONFIGS["gpt2"], tensors)
    with pytest.raises(ValueError, match=f"unknown prefix.*Received: prefix='{prefix}'"):
        open_huggingface(folder)


@KINDS
def test_any_missing_weight_is_an_error_that_names_it(tmp_path, kind):
    tensors = random_tensors(kind)
    for number, name in enumerate(tensors):
        rest = {key: values for key, values in tensors.items() if key != name}
        folder = write_folder(tmp_path / str(number), CONFIGS[kind], rest)
        with pytest.raises(ValueError, match="lacks the backbone weight") as error:
            load(folder, kind)
        assert repr(name) in str(error.value)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("h.1.attn.c_attn.weight", (20, 40), r"query/kernel', which is part 1 of 3.*\(20, 60\)"),
        ("h.0.attn.c_attn.bias", (57,), r"n_embd decides.*shape \(57,\), expected \(60,\)"),
        ("h.0.mlp.c_fc.weight", (20, 80), r"n_inner decides.*\(20, 80\), expected \(20, 24\)"),
        ("wte.weight", (30, 20), "vocab_size decides"),
        ("wpe.weight", (12, 20), "n_positions decides"),
        ("h.1.ln_2.bias", (21,), "n_embd decides"),
    ],
)
def test_another_shape_names_tensor_and_field(tmp_path, name, shape, message):
    tensors = random_tensors("gpt2") | {name: np.zeros(shape, "float32")}
    folder = write_folder(tmp_path / "gpt", CONFIGS["gpt2"], tensors)
    model = FakeModel("gpt2")
    with pytest.raises(ValueError, match=f"tensor '{name}'.*{message}"):
        load_weights(model.variables, open_huggingface(folder))
    assert not any(value.any() for value in model.values().values())


def sharded(folder, tensors, write_torch):
    names = list(tensors)
    shards = {
        f"model-0000{number + 1}-of-00002.safetensors": names[number::2] for number in range(2)
    }
    for file, inside in shards.items():
        save_file({name: tensors[name] for name in inside}, folder / file)
    weight_map = {name: file for file, inside in shards.items() for name in inside}
    index = json.dumps({"weight_map": weight_map})
    (folder / "model.safetensors.index.json").write_text(index)


def torch_file(folder, tensors, write_torch):
    write_torch(folder / "pytorch_model.bin", tensors)


def keras_file(folder, tensors, write_torch):
    """As transformers 4 wrote TFGPT2LMHeadModel: biases of `Conv1D` are (1, n)."""
    with h5py.File(folder / "tf_model.h5", "w") as file:
        for name, values in tensors.items():
            parts = name.split(".")
            if ".ln_" in name:
                parts[-1] = {"weight": "gamma", "bias": "beta"}[parts[-1]]
            elif parts[-1] == "bias":
                values = values[None]
            elif len(parts) == 3 and Path(folder).name.startswith("new"):
                parts[-1] = "embeddings"
            inner = "/".join(parts).replace("/h/", "/h_._") + ":0"
            file[f"transformer/tfgp_t2lm_head_model/{inner}"] = values


@KINDS
@pytest.mark.parametrize("write", [sharded, torch_file, keras_file])
@pytest.mark.parametrize("name", ["old", "new"])
def test_every_layout(tmp_path, kind, write, name, write_torch):
    tensors = random_tensors(kind)
    folder = write_folder(tmp_path / name, CONFIGS[kind], None)
    write(folder, with_prefix(tensors), write_torch)
    check(folder, kind, tensors)


@pytest.mark.transformers
@KINDS
@pytest.mark.parametrize("max_shard_size", ["1GB", "6KB"])
@pytest.mark.parametrize("head", ["none", "causal language model", "labels"])
def test_folders_that_transformers_wrote(tmp_path, kind, head, max_shard_size):
    import torch
    import transformers

    automatic = {
        "none": transformers.AutoModel,
        "causal language model": transformers.AutoModelForCausalLM,
        "labels": transformers.AutoModelForSequenceClassification,
    }[head]
    torch.manual_seed(2)
    reference = automatic.from_config(transformers.AutoConfig.for_model(**CONFIGS[kind]))
    reference.save_pretrained(tmp_path, max_shard_size=max_shard_size)
    assert (len(list(tmp_path.glob("*.safetensors"))) > 1) == (max_shard_size == "6KB")
    state = {n.removeprefix("transformer."): t.numpy() for n, t in reference.state_dict().items()}
    values, report = load(tmp_path, kind)
    for path, value in expected_values(kind, state).items():
        np.testing.assert_array_equal(values()[path], value, err_msg=path)
    assert report.missing == ()
    assert report.unused == (("score.weight",) if head == "labels" else ())
