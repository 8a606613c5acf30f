"""Tiny GPT checkpoints as plain arrays under Hugging Face's names, written out by hand."""

import json

import numpy as np
from safetensors.numpy import save_file

SIZES = {"vocab_size": 31, "n_positions": 11, "n_embd": 20, "n_layer": 2, "n_head": 4}
CONFIGS = {
    "openai-gpt": {
        **SIZES,
        "model_type": "openai-gpt",
        "architectures": ["OpenAIGPTLMHeadModel"],
        "afn": "gelu",
        "attn_pdrop": 0.3,
        "embd_pdrop": 0.2,
        "resid_pdrop": 0.2,
        "layer_norm_epsilon": 1e-5,
        "initializer_range": 0.02,
    },
    "gpt2": {
        **SIZES,
        "model_type": "gpt2",
        "architectures": ["GPT2LMHeadModel"],
        "activation_function": "gelu_new",
        "n_inner": 24,
        "attn_pdrop": 0.3,
        "embd_pdrop": 0.2,
        "resid_pdrop": 0.2,
        "layer_norm_epsilon": 1e-5,
        "initializer_range": 0.02,
    },
}
EMBEDDINGS = {
    "openai-gpt": ("tokens_embed.weight", "positions_embed.weight"),
    "gpt2": ("wte.weight", "wpe.weight"),
}
_LAYER = [
    ("ln_1.weight", "attention_layer_norm/gamma", (20,)),
    ("ln_1.bias", "attention_layer_norm/beta", (20,)),
    ("attn.c_proj.weight", "attention/attention_output/kernel", (20, 20)),
    ("attn.c_proj.bias", "attention/attention_output/bias", (20,)),
    ("ln_2.weight", "feed_forward_layer_norm/gamma", (20,)),
    ("ln_2.bias", "feed_forward_layer_norm/beta", (20,)),
    ("mlp.c_fc.weight", "feed_forward/intermediate/kernel", (20, "inner")),
    ("mlp.c_fc.bias", "feed_forward/intermediate/bias", ("inner",)),
    ("mlp.c_proj.weight", "feed_forward/feed_forward_output/kernel", ("inner", 20)),
    ("mlp.c_proj.bias", "feed_forward/feed_forward_output/bias", (20,)),
]


def pairs(kind):
    """(Hugging Face's name, variable path, shape of both) of what is one tensor, one variable."""
    tokens, positions = EMBEDDINGS[kind]
    inner = 24 if kind == "gpt2" else 80
    found = [
        (tokens, "embeddings/token_embedding/embeddings", (31, 20)),
        (positions, "embeddings/position_embedding/embeddings", (11, 20)),
    ]
    for i in range(2):
        for source, target, shape in _LAYER:
            shape = tuple(inner if size == "inner" else size for size in shape)
            found.append((f"h.{i}.{source}", f"layer_{i}/{target}", shape))
    if kind == "gpt2":
        found += [
            ("ln_f.weight", "layer_norm/gamma", (20,)),
            ("ln_f.bias", "layer_norm/beta", (20,)),
        ]
    return found


def random_tensors(kind):
    """Random weights under Hugging Face's names without prefix."""
    random = np.random.default_rng(3)
    shapes = {name: shape for name, _, shape in pairs(kind)}
    for i in range(2):
        shapes[f"h.{i}.attn.c_attn.weight"] = (20, 60)
        shapes[f"h.{i}.attn.c_attn.bias"] = (60,)
    return {n: random.standard_normal(s).astype(np.float32) for n, s in shapes.items()}


def expected_values(kind, tensors):
    """The values that the variables must have, by their paths."""
    values = {path: tensors[name] for name, path, _ in pairs(kind)}
    for i in range(2):
        for number, name in enumerate(("query", "key", "value")):
            columns = slice(20 * number, 20 * (number + 1))
            stem = f"layer_{i}/attention/{name}"
            values[f"{stem}/kernel"] = tensors[f"h.{i}.attn.c_attn.weight"][:, columns]
            values[f"{stem}/bias"] = tensors[f"h.{i}.attn.c_attn.bias"][columns]
    return values


def with_prefix(tensors):
    """The names as in a language model."""
    return {f"transformer.{name}": values for name, values in tensors.items()}


def write_folder(folder, config, tensors):
    """Write a Hugging Face folder; without tensors its config alone."""
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    if tensors is not None:
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


class FakeVariable:
    """What loading and writing use of a Keras variable."""

    def __init__(self, path, shape):
        self.path, self.shape, self.dtype = path, shape, "float32"
        self.value = np.zeros(shape, "float32")

    def assign(self, value):
        assert value.shape == self.shape
        self.value = value


class FakeModel:
    """A GPT backbone that consists of its variables."""

    def __init__(self, kind):
        values = expected_values(kind, random_tensors(kind))
        self.variables = [FakeVariable(path, value.shape) for path, value in values.items()]

    def values(self):
        return {variable.path: variable.value for variable in self.variables}
