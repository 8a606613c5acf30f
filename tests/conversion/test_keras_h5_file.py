import h5py
import numpy as np
import pytest

from kerazoo.conversion.keras_h5_file import read_keras_h5


def arrays(path, sharded=False):
    return {name: tensor.read() for name, tensor in read_keras_h5(path, sharded).items()}


@pytest.mark.parametrize("sharded", [False, True])
def test_names_shapes_and_values_are_pytorchs(
    tmp_path, tensors, with_prefix, write_h5, same_values, sharded
):
    tensors = with_prefix(tensors)
    path = tmp_path / "tf_model.h5"
    write_h5(path, tensors, sharded=sharded)
    read = read_keras_h5(path, sharded)
    assert {n: t.shape for n, t in read.items()} == {n: a.shape for n, a in tensors.items()}
    same_values(arrays(path, sharded), tensors)


def test_the_model_scope_may_have_any_name(tmp_path, write_h5):
    values = np.float32([[1, 2, 3]])
    write_h5(tmp_path / "m.h5", {"bert.pooler.dense.weight": values}, model="tf_bert_model_12")
    np.testing.assert_array_equal(arrays(tmp_path / "m.h5")["bert.pooler.dense.weight"], values)


def test_heads_of_pretraining_and_the_tied_matrix(tmp_path):
    with h5py.File(tmp_path / "m.h5", "w") as file:
        model, words = "tf_bert_for_pre_training", "bert/embeddings/word_embeddings/weight:0"
        for layer in ("bert", "mlm___cls"):
            file[f"{layer}/{model}/{words}"] = np.float32([[1, 2]])
        file[f"mlm___cls/{model}/mlm___cls/predictions/bias:0"] = np.float32([5])
        file[f"nsp___cls/{model}/nsp___cls/seq_relationship/kernel:0"] = np.float32([[1, 2, 3]])
    read = arrays(tmp_path / "m.h5")
    assert set(read) == {
        "bert.embeddings.word_embeddings.weight",
        "cls.predictions.bias",
        "cls.seq_relationship.weight",
    }
    assert read["cls.seq_relationship.weight"].shape == (3, 1)


def test_kernels_that_are_split_by_heads(tmp_path):
    """transformers 4.0 to 4.2 stored (hidden, heads, head) and (heads, head, hidden)."""
    random = np.random.default_rng(0)
    query, bias = random.random((6, 3, 2), np.float32), random.random((3, 2), np.float32)
    output = random.random((3, 2, 6), np.float32)
    with h5py.File(tmp_path / "m.h5", "w") as file:
        layer = "bert/tf_bert_model/bert/encoder/layer_._0/attention"
        file[f"{layer}/self/query/kernel:0"] = query
        file[f"{layer}/self/query/bias:0"] = bias
        file[f"{layer}/output/dense/kernel:0"] = output
    read = arrays(tmp_path / "m.h5")
    stem = "bert.encoder.layer.0.attention"
    np.testing.assert_array_equal(read[f"{stem}.self.query.weight"], query.reshape(6, 6).T)
    np.testing.assert_array_equal(read[f"{stem}.self.query.bias"], bias.reshape(6))
    np.testing.assert_array_equal(read[f"{stem}.output.dense.weight"], output.reshape(6, 6).T)


@pytest.mark.parametrize("share", [0, 0.1, 0.6])
def test_a_truncated_file_is_named(tmp_path, tensors, write_h5, share):
    path = tmp_path / "tf_model.h5"
    write_h5(path, tensors)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match="truncated or not an HDF5 file") as error:
        read_keras_h5(path)
    assert str(path) in str(error.value)
