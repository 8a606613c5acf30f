import keras
import numpy as np
import pytest

from kerazoo.training.checkpoint import checkpoint_files, read_checkpoint, write_checkpoint

KERNEL = np.arange(6.0).reshape(2, 3)


def variables(kernel=KERNEL, iteration=7, seed=5):
    return [
        keras.Variable(kernel, name="kernel"),
        keras.Variable(iteration, dtype="int32", trainable=False, name="iteration"),
        keras.random.SeedGenerator(seed, name="dropout").state,
    ]


HISTORY = [{"step": 3, "val_loss": 1.5}]


def test_what_is_written_is_read_back(tmp_path):
    written = variables()
    file = write_checkpoint(tmp_path, 12, written, HISTORY)
    checkpoint = read_checkpoint(tmp_path)
    assert (checkpoint.step, checkpoint.history) == (12, HISTORY)
    others = variables(np.zeros((2, 3)), iteration=0, seed=6)
    checkpoint.restore(others[:1])
    checkpoint.restore(others)
    for variable, other in zip(written, others, strict=True):
        value, restored = (keras.ops.convert_to_numpy(v) for v in (variable, other))
        assert value.dtype == restored.dtype
        np.testing.assert_array_equal(value, restored)
    assert list(tmp_path.iterdir()) == [file]


def test_none_yet(tmp_path):
    assert read_checkpoint(tmp_path) is None


def test_the_last_two_are_kept(tmp_path):
    for step in (2, 4, 10):
        write_checkpoint(tmp_path, step, variables(), [])
    names = [file.name for file in checkpoint_files(tmp_path)]
    assert names == ["step-000000004.safetensors", "step-000000010.safetensors"]
    assert read_checkpoint(tmp_path).step == 10


@pytest.mark.parametrize("other", [np.zeros((3, 2)), np.zeros((2, 3))])
def test_another_model_is_refused(tmp_path, other):
    write_checkpoint(tmp_path, 1, variables(), [])
    name = "gamma" if other.shape == (2, 3) else "kernel"
    with pytest.raises(ValueError, match=f"one of another model.*{name}"):
        read_checkpoint(tmp_path).restore([keras.Variable(other, name=name)])
    with pytest.raises(ValueError, match="one of another model"):
        read_checkpoint(tmp_path).restore([*variables(), keras.Variable(other, name=name)])


@pytest.mark.parametrize("size", [0, 5, 100, 300])
def test_a_cut_file_is_named(tmp_path, size):
    file = write_checkpoint(tmp_path, 1, variables(), [])
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"step-000000001\.safetensors is damaged"):
        read_checkpoint(tmp_path)


def test_a_failure_leaves_the_one_before(tmp_path, monkeypatch):
    from kerazoo.training import checkpoint as module

    write_checkpoint(tmp_path, 1, variables(), [])

    def fail(arrays, path, metadata):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "save_file", fail)
    with pytest.raises(OSError, match="No space"):
        write_checkpoint(tmp_path, 2, variables(), [])
    assert [file.name for file in tmp_path.iterdir()] == ["step-000000001.safetensors"]
    assert read_checkpoint(tmp_path).step == 1
