"""A tiny BERT as plain arrays under Hugging Face's names, and writers for every layout.

No test here needs transformers or PyTorch, but those marked `transformers`.
"""

import json
import pickle
import struct
import sys
import types
import zipfile
from collections import OrderedDict
from pathlib import Path

import h5py
import numpy as np
import pytest
from safetensors.numpy import save_file

CONFIG = {
    "architectures": ["BertForSequenceClassification"],
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.2,
    "hidden_size": 20,
    "id2label": {"0": "bad", "1": "good", "2": "mixed"},
    "initializer_range": 0.02,
    "intermediate_size": 24,
    "label2id": {"bad": 0, "good": 1, "mixed": 2},
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 11,
    "model_type": "bert",
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "type_vocab_size": 3,
    "vocab_size": 31,
}
LAYER_PAIRS = [
    ("attention.self.query.weight", "attention/query/kernel", (20, 20)),
    ("attention.self.query.bias", "attention/query/bias", (20,)),
    ("attention.self.key.weight", "attention/key/kernel", (20, 20)),
    ("attention.self.key.bias", "attention/key/bias", (20,)),
    ("attention.self.value.weight", "attention/value/kernel", (20, 20)),
    ("attention.self.value.bias", "attention/value/bias", (20,)),
    ("attention.output.dense.weight", "attention/attention_output/kernel", (20, 20)),
    ("attention.output.dense.bias", "attention/attention_output/bias", (20,)),
    ("attention.output.LayerNorm.weight", "attention_layer_norm/gamma", (20,)),
    ("attention.output.LayerNorm.bias", "attention_layer_norm/beta", (20,)),
    ("intermediate.dense.weight", "feed_forward/intermediate/kernel", (24, 20)),
    ("intermediate.dense.bias", "feed_forward/intermediate/bias", (24,)),
    ("output.dense.weight", "feed_forward/feed_forward_output/kernel", (20, 24)),
    ("output.dense.bias", "feed_forward/feed_forward_output/bias", (20,)),
    ("output.LayerNorm.weight", "feed_forward_layer_norm/gamma", (20,)),
    ("output.LayerNorm.bias", "feed_forward_layer_norm/beta", (20,)),
]
# (Hugging Face's name, kerazoo's variable path, shape in the file), written out by hand.
PAIRS = [
    ("embeddings.word_embeddings.weight", "embeddings/token_embedding/embeddings", (31, 20)),
    ("embeddings.position_embeddings.weight", "embeddings/position_embedding/embeddings", (11, 20)),
    ("embeddings.token_type_embeddings.weight", "embeddings/segment_embedding/embeddings", (3, 20)),
    ("embeddings.LayerNorm.weight", "embeddings/layer_norm/gamma", (20,)),
    ("embeddings.LayerNorm.bias", "embeddings/layer_norm/beta", (20,)),
    *(
        (f"encoder.layer.{i}.{source}", f"layer_{i}/{target}", shape)
        for i in range(2)
        for source, target, shape in LAYER_PAIRS
    ),
    ("pooler.dense.weight", "pooler/dense/kernel", (20, 20)),
    ("pooler.dense.bias", "pooler/dense/bias", (20,)),
]
HEAD_PAIRS = [
    ("classifier.weight", "classifier/kernel", (3, 20)),
    ("classifier.bias", "classifier/bias", (3,)),
]
PRETRAINING_PAIRS = [
    ("cls.predictions.transform.dense.weight", "masked_lm/dense/kernel", (20, 20)),
    ("cls.predictions.transform.dense.bias", "masked_lm/dense/bias", (20,)),
    ("cls.predictions.transform.LayerNorm.weight", "masked_lm/layer_norm/gamma", (20,)),
    ("cls.predictions.transform.LayerNorm.bias", "masked_lm/layer_norm/beta", (20,)),
    ("cls.predictions.bias", "masked_lm/bias", (31,)),
    ("cls.seq_relationship.weight", "next_sentence/kernel", (2, 20)),
    ("cls.seq_relationship.bias", "next_sentence/bias", (2,)),
]


class FakeVariable:
    """What `load_weights` uses of a Keras variable."""

    def __init__(self, path, shape, dtype="float32"):
        self.path, self.shape, self.dtype = path, shape, dtype
        self.value = np.zeros(shape, dtype)
        self.assigned = 0

    def assign(self, value):
        assert value.shape == self.shape
        self.value = value
        self.assigned += 1


class FakeModel:
    """A model that consists of its variables."""

    def __init__(self, with_head=False):
        pairs = PAIRS + (HEAD_PAIRS if with_head else [])
        self.variables = [
            FakeVariable(path, shape[::-1] if path.endswith("/kernel") else shape)
            for _, path, shape in pairs
        ]

    def values(self):
        return {variable.path: variable.value for variable in self.variables}


@pytest.fixture(scope="session")
def pairs():
    return PAIRS


@pytest.fixture
def config():
    """The contents of `config.json`; a test may change them."""
    return json.loads(json.dumps(CONFIG))


@pytest.fixture
def tensors():
    """Random weights under Hugging Face's names, backbone without prefix, with the head's."""
    random = np.random.default_rng(3)
    return {
        name: random.standard_normal(shape).astype(np.float32)
        for name, _, shape in PAIRS + HEAD_PAIRS
    }


@pytest.fixture
def pretraining_tensors():
    """Random weights of BertForPreTraining, names as it saves them, the tied matrix once."""
    random = np.random.default_rng(4)
    return {
        name if name.startswith("cls.") else f"bert.{name}": random.standard_normal(shape).astype(
            np.float32
        )
        for name, _, shape in PAIRS + PRETRAINING_PAIRS
    }


@pytest.fixture
def expected():
    """A function: the values that the variables must have, given tensors under plain names."""

    def expect(tensors, with_head=False):
        return {
            path: tensors[name].T if path.endswith("/kernel") else tensors[name]
            for name, path, _ in PAIRS + (HEAD_PAIRS if with_head else [])
        }

    return expect


@pytest.fixture
def make_model():
    return FakeModel


@pytest.fixture
def same_values():
    """A function that asserts that two dicts hold bit-equal float32 arrays under equal names."""

    def check(actual, wanted):
        assert actual.keys() == wanted.keys()
        for name in wanted:
            assert actual[name].dtype == np.float32, name
            np.testing.assert_array_equal(actual[name], wanted[name], err_msg=name)

    return check


@pytest.fixture
def with_prefix():
    """A function that puts `bert.` (or another prefix) before the names of the backbone."""

    def rename(tensors, prefix="bert."):
        return {
            (n if n.startswith(("classifier", "cls.")) else prefix + n): t
            for n, t in tensors.items()
        }

    return rename


@pytest.fixture
def make_folder(tmp_path, config):
    """A function that writes a Hugging Face folder with a single safetensors file."""

    def make(tensors, config=config, name="model", files=()):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        if tensors is not None:
            arrays = {key: np.ascontiguousarray(value) for key, value in tensors.items()}
            save_file(arrays, folder / "model.safetensors", metadata={"format": "pt"})
        for file_name, content in dict(files).items():
            (folder / file_name).write_text(content, encoding="utf-8", newline="")
        return folder

    return make


@pytest.fixture
def write_h5():
    """A function that writes tensors as transformers did from TensorFlow.

    The nesting was checked against files that transformers 4.49 wrote for TFBertModel,
    TFBertForSequenceClassification and TFBertForPreTraining, single and sharded.
    """

    def write(path, tensors, model="tf_bert_for_sequence_classification", sharded=False):
        with h5py.File(path, "w") as file:
            for name, values in tensors.items():
                parts = name.split(".")
                if "embeddings" in parts and parts[-1] == "weight" and "LayerNorm" not in parts:
                    parts[-1] = "weight" if "word_embeddings" in parts else "embeddings"
                elif parts[-2] == "LayerNorm":
                    parts[-1] = {"weight": "gamma", "bias": "beta"}[parts[-1]]
                elif parts[-1] == "weight":
                    parts[-1], values = "kernel", values.T
                inner = "/".join(parts).replace("/layer/", "/layer_._") + ":0"
                file[inner if sharded else f"{parts[0]}/{model}/{inner}"] = values

    return write


class FakeTensor:
    """What the pickle of a PyTorch tensor describes; with strides for transposed views."""

    def __init__(self, values, parameter=False, view_of=None):
        self.values, self.parameter = values, parameter
        self.storage = view_of if view_of is not None else FakeStorage(values)


class FakeStorage:
    def __init__(self, values):
        self.values = values


STORAGES = {"<f4": "FloatStorage", "<f2": "HalfStorage", "<f8": "DoubleStorage"}


def _stub_torch():
    torch, helpers = types.ModuleType("torch"), types.ModuleType("torch._utils")
    for name in (*STORAGES.values(), "BFloat16Storage"):
        setattr(torch, name, type(name, (), {"__module__": "torch"}))
    for name in ("_rebuild_tensor_v2", "_rebuild_parameter"):
        function = types.FunctionType((lambda *_: None).__code__, {}, name)
        function.__module__, function.__qualname__ = "torch._utils", name
        setattr(helpers, name, function)
    return torch, helpers


class _Pickler(pickle.Pickler):
    """Writes the description that `torch.save` writes."""

    def __init__(self, file, torch, helpers, legacy):
        super().__init__(file, protocol=2)
        self.torch, self.helpers, self.legacy = torch, helpers, legacy
        self.storages = {}

    def persistent_id(self, obj):
        if not isinstance(obj, FakeStorage):
            return None
        key = self.storages.setdefault(id(obj), (str(len(self.storages)), obj))[0]
        name = STORAGES.get(obj.values.dtype.str, "BFloat16Storage")
        known = ("storage", getattr(self.torch, name), key, "cpu", obj.values.size)
        return (*known, None) if self.legacy else known

    def reducer_override(self, obj):
        if not isinstance(obj, FakeTensor):
            return NotImplemented
        strides = tuple(step // obj.values.itemsize for step in obj.values.strides)
        arguments = (obj.storage, 0, obj.values.shape, strides, False, OrderedDict())
        if obj.parameter:
            return self.helpers._rebuild_parameter, (FakeTensor(obj.values), True, OrderedDict())
        return self.helpers._rebuild_tensor_v2, arguments


@pytest.fixture
def write_torch(monkeypatch):
    """A function that writes tensors (or any object) as `torch.save` does, without PyTorch."""

    def write(path, content, legacy=False):
        if isinstance(content, dict):
            content = OrderedDict(
                (k, FakeTensor(v) if isinstance(v, np.ndarray) else v) for k, v in content.items()
            )
            content._metadata = OrderedDict(version=1)
        torch, helpers = _stub_torch()
        with monkeypatch.context() as patch, Path(path).open("wb") as file:
            patch.setitem(sys.modules, "torch", torch)
            patch.setitem(sys.modules, "torch._utils", helpers)
            (_write_legacy if legacy else _write_zip)(file, content, torch, helpers)

    return write


def _raw(storage):
    return storage.values.ravel(order="K").tobytes()


def _write_zip(file, content, torch, helpers):
    with zipfile.ZipFile(file, "w") as archive:
        with archive.open("archive/data.pkl", "w") as member:
            pickler = _Pickler(member, torch, helpers, legacy=False)
            pickler.dump(content)
        archive.writestr("archive/byteorder", "little")
        for key, storage in pickler.storages.values():
            archive.writestr(f"archive/data/{key}", _raw(storage))
        archive.writestr("archive/version", "3\n")


def _write_legacy(file, content, torch, helpers):
    for header in (0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}):
        pickle.dump(header, file, protocol=2)
    pickler = _Pickler(file, torch, helpers, legacy=True)
    pickler.dump(content)
    stored = sorted(pickler.storages.values(), key=lambda item: item[0])
    pickle.dump([key for key, _ in stored], file, protocol=2)
    for _, storage in stored:
        file.write(struct.pack("<q", storage.values.size) + _raw(storage))


@pytest.fixture
def fake_tensor():
    return FakeTensor
