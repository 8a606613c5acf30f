import os
import pickle
import zipfile
from collections import OrderedDict

import ml_dtypes
import numpy as np
import pytest

from kerazoo.conversion.torch_file import read_torch_file

both_formats = pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])


def arrays(path):
    return {name: tensor.read() for name, tensor in read_torch_file(path).items()}


class RunsCode:
    """A pickle of this runs code when it is loaded with no care."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@both_formats
def test_names_shapes_and_values(tmp_path, tensors, write_torch, same_values, legacy):
    path = tmp_path / "pytorch_model.bin"
    write_torch(path, tensors, legacy=legacy)
    read = read_torch_file(path)
    assert {n: t.shape for n, t in read.items()} == {n: a.shape for n, a in tensors.items()}
    same_values(arrays(path), tensors)


@both_formats
def test_half_precision_becomes_float32(tmp_path, write_torch, legacy):
    values = {"h": np.float16([0.1, -5]), "b": np.float32([0.1, 3]).astype(ml_dtypes.bfloat16)}
    write_torch(tmp_path / "m.bin", values, legacy=legacy)
    for name, read in arrays(tmp_path / "m.bin").items():
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, values[name].astype(np.float32))


@both_formats
def test_transposed_views_and_shared_storages(tmp_path, write_torch, fake_tensor, legacy):
    base = fake_tensor(np.arange(12, dtype=np.float32).reshape(3, 4))
    content = {
        "base": base,
        "transposed": fake_tensor(base.values.T, view_of=base.storage),
        "tied": fake_tensor(base.values, view_of=base.storage),
    }
    write_torch(tmp_path / "m.bin", content, legacy=legacy)
    read = arrays(tmp_path / "m.bin")
    np.testing.assert_array_equal(read["tied"], base.values)
    np.testing.assert_array_equal(read["transposed"], base.values.T)


def test_parameters_and_a_nested_state_dict(tmp_path, write_torch, fake_tensor):
    values = np.float32([[1, 2, 3]])
    state = OrderedDict(w=fake_tensor(values, parameter=True))
    write_torch(tmp_path / "m.bin", {"state_dict": state, "epoch": 3})
    np.testing.assert_array_equal(arrays(tmp_path / "m.bin")["w"], values)


@both_formats
@pytest.mark.parametrize("place", ["value", "key", "whole"])
def test_code_in_a_pickle_is_refused_and_not_run(tmp_path, write_torch, legacy, place):
    path, mark = tmp_path / "m.bin", tmp_path / "ran"
    bomb = RunsCode(os.mkdir, str(mark))
    content = {"value": {"w": bomb}, "key": {"w": {bomb: 1}}, "whole": bomb}[place]
    write_torch(path, content, legacy=legacy)
    with pytest.raises(ValueError, match="mkdir, which is no tensor") as error:
        read_torch_file(path)
    assert str(path) in str(error.value)
    assert not mark.exists()
    if not legacy:  # the bomb is live: a careless loader does run it
        with zipfile.ZipFile(path) as archive:
            pickle.loads(archive.read("archive/data.pkl"))
        assert mark.exists()


@pytest.mark.parametrize("function", [eval, getattr, exec, __import__], ids=lambda f: f.__name__)
def test_builtins_are_refused(tmp_path, write_torch, function):
    write_torch(tmp_path / "m.bin", {"w": RunsCode(function, "1")})
    with pytest.raises(ValueError, match=f"{function.__name__}, which is no tensor"):
        read_torch_file(tmp_path / "m.bin")


@both_formats
def test_what_is_no_tensor_is_refused(tmp_path, write_torch, legacy):
    write_torch(tmp_path / "m.bin", {"w": np.zeros(2, np.float32), "lr": 0.1}, legacy=legacy)
    with pytest.raises(ValueError, match="its entry 'lr' is no tensor"):
        read_torch_file(tmp_path / "m.bin")


def test_a_tensor_may_not_reach_beyond_its_values(tmp_path, write_torch, fake_tensor):
    tensor = fake_tensor(np.zeros((3, 4), np.float32))
    tensor.storage.values = np.zeros(5, np.float32)
    write_torch(tmp_path / "m.bin", {"w": tensor})
    with pytest.raises(ValueError, match="reaches beyond its values"):
        read_torch_file(tmp_path / "m.bin")["w"].read()


def test_negative_strides_are_refused(tmp_path, write_torch, fake_tensor):
    values = np.zeros(6, np.float32)
    write_torch(tmp_path / "m.bin", {"w": fake_tensor(values[::-1])})
    with pytest.raises(ValueError, match="negative sizes"):
        read_torch_file(tmp_path / "m.bin")


@both_formats
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.99])
def test_a_truncated_file_is_named(tmp_path, tensors, write_torch, legacy, share):
    path = tmp_path / "pytorch_model.bin"
    write_torch(path, tensors, legacy=legacy)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(ValueError, match="cannot be read as a PyTorch weights file") as error:
        read_torch_file(path)
    assert str(path) in str(error.value)


@pytest.mark.transformers
@both_formats
def test_files_that_torch_wrote(tmp_path, tensors, same_values, legacy):
    import torch

    path = tmp_path / "pytorch_model.bin"
    state = OrderedDict((name, torch.from_numpy(array)) for name, array in tensors.items())
    state["pooler.dense.weight"] = torch.nn.Parameter(state["pooler.dense.weight"].T).T
    state["half"] = torch.tensor([0.1, 2.0], dtype=torch.bfloat16)
    torch.save(state, path, _use_new_zipfile_serialization=not legacy)
    read = arrays(path)
    np.testing.assert_array_equal(read.pop("half"), np.float32([0.10009765625, 2]))
    same_values(read, tensors)
