import json

import numpy as np
import pytest

from kerazoo.conversion.huggingface_tensors import open_huggingface
from kerazoo.conversion.loading import load_weights

MLM_HEAD = {
    "cls.predictions.bias": np.zeros(31, np.float32),
    "cls.predictions.transform.LayerNorm.weight": np.zeros(20, np.float32),
    "cls.seq_relationship.weight": np.zeros((2, 20), np.float32),
}


def with_old_names(tensors):
    """The layer norms' names of the files of 2018 and 2019."""

    def old(name):
        return name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta")

    return {old(name): values for name, values in tensors.items()}


@pytest.mark.parametrize("prefix", ["", "bert."])
@pytest.mark.parametrize("old_names", [False, True])
@pytest.mark.parametrize("position_ids", [False, True])
def test_every_spelling_of_the_names(
    tensors,
    with_prefix,
    make_folder,
    make_model,
    expected,
    same_values,
    prefix,
    old_names,
    position_ids,
):
    stored = with_prefix(tensors, prefix)
    if old_names:
        stored = with_old_names(stored)
    if position_ids:
        stored[f"{prefix}embeddings.position_ids"] = np.arange(11)[None]
    model = make_model(with_head=True)
    report = load_weights(model.variables, open_huggingface(make_folder(stored)))
    same_values(model.values(), expected(tensors, with_head=True))
    assert report.is_complete, str(report)


def test_only_the_position_ids_are_ignored_by_name(tensors, make_folder, make_model):
    tensors["embeddings.position_ids.more"] = np.arange(3)
    tensors["embeddings.token_type_ids"] = np.arange(3)
    report = load_weights(make_model(True).variables, open_huggingface(make_folder(tensors)))
    assert set(report.unused) == {"embeddings.position_ids.more", "embeddings.token_type_ids"}


@pytest.mark.parametrize("prefix", ["model.bert.", "module.bert.", "roberta.", "encoder_q."])
def test_an_unknown_prefix_is_named(tensors, with_prefix, make_folder, prefix):
    folder = make_folder(with_prefix(tensors, prefix))
    with pytest.raises(ValueError, match=f"unknown prefix.*Received: prefix='{prefix}'") as error:
        open_huggingface(folder)
    assert str(folder) in str(error.value)


def test_heads_of_pretraining_are_reported_under_their_own_names(
    tensors, with_prefix, make_folder, make_model
):
    folder = make_folder(with_old_names(with_prefix(tensors) | MLM_HEAD))
    report = load_weights(make_model().variables, open_huggingface(folder))
    assert set(report.unused) == {
        "classifier.weight",
        "classifier.bias",
        "cls.predictions.bias",
        "cls.predictions.transform.LayerNorm.gamma",
        "cls.seq_relationship.weight",
    }


def test_two_tensors_for_one_weight(tensors, make_folder):
    tensors["embeddings.LayerNorm.gamma"] = tensors["embeddings.LayerNorm.weight"] + 1
    with pytest.raises(ValueError, match="two tensors for one weight.*LayerNorm.gamma"):
        open_huggingface(make_folder(tensors))


@pytest.mark.parametrize(
    ("architecture", "may_be_absent"),
    [("BertForMaskedLM", True), ("BertForTokenClassification", True), ("BertModel", False)],
)
def test_the_pooler_may_be_absent_where_the_architecture_has_none(
    tensors, config, make_folder, make_model, architecture, may_be_absent
):
    tensors = {n: t for n, t in tensors.items() if not n.startswith(("pooler", "classifier"))}
    folder = make_folder(tensors, config | {"architectures": [architecture]})
    checkpoint = open_huggingface(folder)
    if may_be_absent:
        report = load_weights(make_model().variables, checkpoint)
        assert report.missing == ("pooler/dense/kernel", "pooler/dense/bias")
    else:
        with pytest.raises(ValueError, match="lacks the backbone weight 'pooler.dense.weight'"):
            load_weights(make_model().variables, checkpoint)


def test_deleting_any_tensor_from_any_layout_is_an_error_that_names_it(
    tensors, with_prefix, config, tmp_path, make_model, write_torch, pairs
):
    (tmp_path / "config.json").write_text(json.dumps(config))
    for name, _, _ in pairs:
        rest = {key: values for key, values in tensors.items() if key != name}
        write_torch(tmp_path / "pytorch_model.bin", with_old_names(with_prefix(rest)))
        with pytest.raises(ValueError, match="lacks the backbone weight") as error:
            load_weights(make_model().variables, open_huggingface(tmp_path))
        assert repr(name) in str(error.value)


@pytest.mark.transformers
@pytest.mark.parametrize("max_shard_size", ["1GB", "6KB"])
@pytest.mark.parametrize("architecture", ["BertModel", "BertForSequenceClassification"])
def test_folders_that_transformers_wrote(
    tmp_path, config, make_model, expected, same_values, architecture, max_shard_size
):
    import transformers

    settings = transformers.BertConfig(**config)
    reference = getattr(transformers, architecture)(settings)
    reference.save_pretrained(tmp_path, max_shard_size=max_shard_size)
    assert (len(list(tmp_path.glob("*.safetensors"))) > 1) == (max_shard_size == "6KB")
    with_head = architecture != "BertModel"
    model = make_model(with_head)
    report = load_weights(model.variables, open_huggingface(tmp_path))
    state = {n.removeprefix("bert."): t.numpy() for n, t in reference.state_dict().items()}
    same_values(model.values(), expected(state, with_head))
    assert report.is_complete
