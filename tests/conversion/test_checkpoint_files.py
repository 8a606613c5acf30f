import json

import numpy as np
import pytest
from safetensors.numpy import save_file

from kerazoo.conversion.checkpoint_files import find_weight_file, read_tensors


def arrays(folder):
    return {name: tensor.read() for name, tensor in read_tensors(folder).items()}


def halves(tensors):
    names = sorted(tensors)
    middle = len(names) // 2
    return [{n: tensors[n] for n in part} for part in (names[:middle], names[middle:])]


@pytest.fixture
def write_sharded(write_torch, write_h5):
    """A function that writes two shards and their index, in one of the three forms."""

    def write(folder, tensors, form):
        stem, ending = form.rsplit(".", 1)
        folder.mkdir(exist_ok=True)
        weight_map = {}
        for number, part in enumerate(halves(tensors), start=1):
            name = f"{stem}-0000{number}-of-00002.{ending}"
            weight_map |= dict.fromkeys(part, name)
            if ending == "safetensors":
                save_file(part, folder / name)
            elif ending == "bin":
                write_torch(folder / name, part)
            else:
                write_h5(folder / name, part, sharded=True)
        index = {"metadata": {"total_size": 1}, "weight_map": weight_map}
        (folder / f"{form}.index.json").write_text(json.dumps(index), encoding="utf-8")
        return folder

    return write


FORMS = ["model.safetensors", "pytorch_model.bin", "tf_model.h5"]


@pytest.mark.parametrize("form", FORMS)
def test_single_files(tmp_path, tensors, write_torch, write_h5, same_values, form):
    path = tmp_path / form
    if form.endswith("safetensors"):
        save_file(tensors, path)
    else:
        (write_torch if form.endswith("bin") else write_h5)(path, tensors)
    assert find_weight_file(tmp_path) == path
    same_values(arrays(tmp_path), tensors)


@pytest.mark.parametrize("form", FORMS)
def test_shards(tmp_path, tensors, write_sharded, same_values, form):
    write_sharded(tmp_path, tensors, form)
    assert find_weight_file(tmp_path).name == f"{form}.index.json"
    same_values(arrays(tmp_path), tensors)


@pytest.mark.parametrize("form", FORMS)
def test_a_missing_shard_is_named(tmp_path, tensors, write_sharded, form):
    write_sharded(tmp_path, tensors, form)
    shard = sorted(tmp_path.glob("*00002-of-*"))[0]
    shard.unlink()
    with pytest.raises(FileNotFoundError, match=f"names the shard {shard.name}"):
        read_tensors(tmp_path)


def test_safetensors_are_preferred(tmp_path, write_torch, write_h5):
    values = {form: np.full(2, i, np.float32) for i, form in enumerate(FORMS)}
    write_h5(tmp_path / "tf_model.h5", {"pooler.bias": values["tf_model.h5"]})
    assert arrays(tmp_path)["pooler.bias"][0] == 2
    write_torch(tmp_path / "pytorch_model.bin", {"pooler.bias": values["pytorch_model.bin"]})
    assert arrays(tmp_path)["pooler.bias"][0] == 1
    save_file({"pooler.bias": values["model.safetensors"]}, tmp_path / "model.safetensors")
    assert arrays(tmp_path)["pooler.bias"][0] == 0


def test_a_folder_without_weights(tmp_path):
    assert find_weight_file(tmp_path) is None
    with pytest.raises(FileNotFoundError, match="holds no weights. Expected one of: model.safe"):
        read_tensors(tmp_path)


@pytest.mark.parametrize("content", ["{}", '{"weight_map": {}}', '{"weight_map": ["a"]}'])
def test_an_index_without_a_weight_map(tmp_path, content):
    (tmp_path / "model.safetensors.index.json").write_text(content)
    with pytest.raises(ValueError, match="index.json must hold a `weight_map`"):
        read_tensors(tmp_path)


def test_an_index_may_not_name_other_folders(tmp_path):
    index = {"weight_map": {"w": "../other/model.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ValueError, match="outside its folder"):
        read_tensors(tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_a_pointer_of_git_lfs_is_recognised(tmp_path, form):
    (tmp_path / form).write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    with pytest.raises(ValueError, match="pointer left by Git LFS.*git lfs pull"):
        read_tensors(tmp_path)


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_file_is_named(tmp_path, form):
    (tmp_path / form).touch()
    with pytest.raises(ValueError, match=f"{form} is empty"):
        read_tensors(tmp_path)
