import json

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.conversion.google_tf1 import (
    find_google_checkpoint,
    open_google_tf1,
    read_google_config,
    read_google_task,
    read_google_tokenizer,
)
from kerazoo.conversion.loading import load_weights

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def google_names(tensors):
    """The tensors of a backbone under the names and in the layout of Google's release."""
    renamed = {}
    for name, values in tensors.items():
        if name.startswith("classifier"):
            continue
        path = "bert/" + name.replace("encoder.layer.", "encoder/layer_").replace(".", "/")
        if "_embeddings" in path:
            path = path.removesuffix("/weight")
        elif "LayerNorm" in path:
            path = path.replace("/weight", "/gamma").replace("/bias", "/beta")
        elif path.endswith("/weight"):
            path, values = path.replace("/weight", "/kernel"), values.T
        renamed[path] = values
    return renamed


HEADS = {
    "cls/predictions/output_bias": np.zeros(31, np.float32),
    "cls/predictions/transform/dense/kernel": np.zeros((20, 20), np.float32),
    "cls/seq_relationship/output_weights": np.zeros((2, 20), np.float32),
}


@pytest.fixture
def write(tmp_path, config):
    def write(tensors, name="bert_model.ckpt", optimizer=True):
        if optimizer:
            slots = {f"{n}/{slot}": v * 0 for n, v in tensors.items() for slot in SLOTS}
            tensors = tensors | slots | {"global_step": np.int64(1200)}
        tf.raw_ops.SaveV2(
            prefix=str(tmp_path / name),
            tensor_names=list(tensors),
            shape_and_slices=[""] * len(tensors),
            tensors=[tf.constant(values) for values in tensors.values()],
        )
        (tmp_path / "bert_config.json").write_text(json.dumps(config))
        return tmp_path

    return write


SLOTS = ["adam_m", "adam_v", "Adam", "Adam_1"]


def test_a_checkpoint_with_adam_slots(tensors, write, make_model, expected, same_values):
    model = make_model()
    checkpoint = open_google_tf1(write(google_names(tensors) | HEADS))
    report = load_weights(model.variables, checkpoint)
    same_values(model.values(), expected(tensors))
    assert report.missing == ()
    assert set(report.unused) == set(HEADS)


def test_deleting_any_tensor_is_an_error_that_names_it(tensors, write, make_model):
    names = google_names(tensors)
    for name in names:
        rest = {key: values for key, values in names.items() if key != name}
        folder = write(rest, optimizer=False)
        with pytest.raises(ValueError, match="lacks the backbone weight") as error:
            load_weights(make_model().variables, open_google_tf1(folder))
        assert repr(name.removeprefix("bert/")) in str(error.value)


def test_the_head_of_run_classifier(tensors, write, make_model, expected, same_values):
    head = {
        "output_weights": tensors["classifier.weight"],
        "output_bias": tensors["classifier.bias"],
    }
    folder = write(google_names(tensors) | head, name="model.ckpt-343")
    model = make_model(with_head=True)
    report = load_weights(model.variables, open_google_tf1(folder))
    same_values(model.values(), expected(tensors, with_head=True))
    assert report.is_complete


def test_the_heads_of_pretraining(tensors, write, make_tiny_bert_pretrainer):
    """A released checkpoint, its heads filled with numbers that tell the axes apart."""
    random = np.random.default_rng(6)
    heads = {
        "cls/predictions/output_bias": random.normal(size=31),
        "cls/predictions/transform/dense/kernel": random.normal(size=(20, 20)),
        "cls/predictions/transform/dense/bias": random.normal(size=20),
        "cls/predictions/transform/LayerNorm/gamma": random.normal(size=20),
        "cls/predictions/transform/LayerNorm/beta": random.normal(size=20),
        "cls/seq_relationship/output_weights": random.normal(size=(2, 20)),
        "cls/seq_relationship/output_bias": random.normal(size=2),
    }
    heads = {name: values.astype(np.float32) for name, values in heads.items()}
    checkpoint = open_google_tf1(write(google_names(tensors) | heads))
    task = make_tiny_bert_pretrainer()
    variables = [v for v in task.weights if v.path.startswith(("masked_lm", "next_sentence"))]
    report = load_weights([*variables, task.backbone.weights[3]], checkpoint)
    assert len(report.loaded) == 8
    values = {variable.path: keras.ops.convert_to_numpy(variable) for variable in variables}
    kernel = heads["cls/predictions/transform/dense/kernel"]
    np.testing.assert_array_equal(values["masked_lm/dense/kernel"], kernel)
    output = heads["cls/seq_relationship/output_weights"]
    np.testing.assert_array_equal(values["next_sentence/kernel"], output.T)
    np.testing.assert_array_equal(values["masked_lm/bias"], heads["cls/predictions/output_bias"])


@pytest.mark.parametrize(
    ("names", "task"),
    [
        (HEADS, "bert-pretraining"),
        (["cls/predictions/output_bias"], "masked-lm"),
        (["cls/seq_relationship/output_weights"], None),
        (["output_weights"], None),
    ],
)
def test_the_heads_say_the_task(write, tmp_path, names, task):
    assert read_google_task(tmp_path) is None
    folder = write({name: np.zeros(2, np.float32) for name in names})
    assert read_google_task(folder) == task


def test_the_released_checkpoint_or_the_last_step_is_taken(tensors, write, tmp_path):
    assert find_google_checkpoint(tmp_path) is None
    some = {"bert/pooler/dense/bias": tensors["pooler.dense.bias"]}
    for name in ("model.ckpt-90", "model.ckpt-1000"):
        write(some, name=name)
    assert find_google_checkpoint(tmp_path).name == "model.ckpt-1000"
    write(some)
    assert find_google_checkpoint(tmp_path).name == "bert_model.ckpt"


def test_config_numbers(tensors, write, config):
    config |= {"type_vocab_size": 2, "hidden_act": "gelu", "max_position_embeddings": 512}
    folder = write({"w": np.zeros(1, np.float32)})
    (folder / "bert_config.json").write_text(json.dumps(config))
    fields = read_google_config(folder)
    assert (fields["num_segments"], fields["max_sequence_length"]) == (2, 512)
    assert (fields["vocabulary_size"], fields["layer_norm_epsilon"]) == (31, 1e-12)


@pytest.mark.parametrize(
    ("name", "words", "lowercase"),
    [
        ("uncased_L-2_H-128_A-2", ["The"], True),
        ("chinese_L-12_H-768_A-12", ["The"], True),
        ("cased_L-12_H-768_A-12", ["the"], False),
        ("multi_cased_L-12_H-768_A-12", ["the"], False),
        ("my-bert", ["the", "a", "##s"], True),
        ("my-bert", ["the", "The", "##S"], False),
    ],
)
def test_lower_case_is_told_by_the_folder_or_the_vocabulary(tmp_path, name, words, lowercase):
    folder = tmp_path / name
    folder.mkdir()
    (folder / "vocab.txt").write_text("".join(f"{token}\n" for token in SPECIALS + words))
    assert read_google_tokenizer(folder) == {
        "vocabulary": SPECIALS + words,
        "lowercase": lowercase,
    }


def test_no_vocabulary(tmp_path):
    with pytest.raises(FileNotFoundError, match="Expected vocab.txt"):
        read_google_tokenizer(tmp_path)


def test_no_checkpoint(tmp_path):
    with pytest.raises(FileNotFoundError, match="Expected bert_model.ckpt.index"):
        open_google_tf1(tmp_path)


@pytest.mark.parametrize("damage", ["truncated index", "truncated values", "no values"])
def test_a_damaged_checkpoint_is_named(tensors, write, make_model, damage):
    folder = write(google_names(tensors))
    values = next(folder.glob("*.data-*"))
    if damage == "truncated index":
        index = folder / "bert_model.ckpt.index"
        index.write_bytes(index.read_bytes()[:200])
    elif damage == "truncated values":
        values.write_bytes(values.read_bytes()[:1000])
    else:
        values.unlink()
    model = make_model()
    with pytest.raises(ValueError, match="bert_model.ckpt is truncated, damaged, or one of its"):
        load_weights(model.variables, open_google_tf1(folder))
