import errno
import os
import resource

import keras
import numpy as np
import pytest

from kerazoo.training.checkpoint import Position, read_checkpoint, write_checkpoint
from kerazoo.training.checkpoint_folder import checkpoint_files

KERNEL = np.arange(6.0).reshape(2, 3)
POSITION = Position(
    12, [{"step": 3, "val_loss": 1.5}], {"step": 3, "val_loss": 1.5}, {"seed": 7, "data": ["a"]}
)


def variables(kernel=KERNEL, iteration=7, seed=5):
    return [
        keras.Variable(kernel, name="kernel"),
        keras.Variable(iteration, dtype="int32", trainable=False, name="iteration"),
        keras.random.SeedGenerator(seed, name="dropout").state,
    ]


def write(folder, step, **options):
    return write_checkpoint(folder, Position(step, []), variables(), **options)


def steps(folder):
    return [int(file.stem.removeprefix("step-")) for file in checkpoint_files(folder)]


def test_what_is_written_is_read_back(tmp_path):
    written = variables()
    file = write_checkpoint(tmp_path, POSITION, written)
    checkpoint = read_checkpoint(tmp_path)
    assert checkpoint.position == POSITION
    others = variables(np.zeros((2, 3)), iteration=0, seed=6)
    iteration, seed = checkpoint.restore(others[:1])
    assert iteration == 7
    np.testing.assert_array_equal(seed, keras.ops.convert_to_numpy(written[2]))
    assert checkpoint.restore(others) == []
    for variable, other in zip(written, others, strict=True):
        value, restored = (keras.ops.convert_to_numpy(v) for v in (variable, other))
        assert value.dtype == restored.dtype
        np.testing.assert_array_equal(value, restored)
    assert list(tmp_path.iterdir()) == [file]


def test_none_yet(tmp_path):
    assert read_checkpoint(tmp_path) is None


def test_the_last_ones_and_the_best_are_kept(tmp_path):
    for step in (2, 4, 6, 10):
        best = {"step": 4, "val_loss": 0.5} if step >= 4 else None
        write_checkpoint(tmp_path, Position(step, [], best), variables())
    assert steps(tmp_path) == [4, 6, 10]
    assert read_checkpoint(tmp_path).position.step == 10
    write(tmp_path, 11, keep=1)
    assert steps(tmp_path) == [11]


@pytest.mark.parametrize("other", [np.zeros((3, 2)), np.zeros((2, 3))])
def test_another_model_is_refused(tmp_path, other):
    write(tmp_path, 1)
    name = "gamma" if other.shape == (2, 3) else "kernel"
    with pytest.raises(ValueError, match=f"one of another model.*{name}"):
        read_checkpoint(tmp_path).restore([keras.Variable(other, name=name)])
    with pytest.raises(ValueError, match="one of another model"):
        read_checkpoint(tmp_path).restore([*variables(), keras.Variable(other, name=name)])


def cut(file):
    file.write_bytes(file.read_bytes()[:300])


def flip(file):
    content = bytearray(file.read_bytes())
    content[-3] ^= 4
    file.write_bytes(content)


def empty(file):
    file.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, flip, empty, os.remove])
def test_for_a_damaged_one_that_before_it_is_taken(tmp_path, damage):
    write(tmp_path, 3)
    damage(write(tmp_path, 5))
    said = []
    assert read_checkpoint(tmp_path, said.append).position.step == 3
    if damage is not os.remove:
        (sentence,) = said
        assert "step-000000005.safetensors is damaged: " in sentence
        assert "passed over, for the one before" in sentence


def test_all_damaged(tmp_path):
    for step in (3, 5):
        flip(write(tmp_path, step))
    with pytest.raises(ValueError, match="All checkpoints .*damaged.*remove the folder to begin"):
        read_checkpoint(tmp_path)


# ---- what can go wrong while one is written -----------------------------------------------------


def no_space(*arguments, **options):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def refused(*arguments, **options):
    raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@pytest.mark.parametrize("failing", ["open", "fsync", "replace"])
@pytest.mark.parametrize("failure", [no_space, refused])
def test_a_failure_leaves_the_one_before(tmp_path, monkeypatch, failing, failure):
    write(tmp_path, 1)
    with monkeypatch.context() as patch:
        if failing == "open":
            patch.setattr(type(tmp_path), "open", failure)
        else:
            patch.setattr(os, failing, failure)
        with pytest.raises(OSError, match="could not be written.*before it are as they") as raised:
            write(tmp_path, 2)
    assert raised.value.filename == str(tmp_path / "step-000000002.safetensors")
    assert raised.value.strerror.startswith("The checkpoint could not be written (")
    assert steps(tmp_path) == [1]
    assert len(list(tmp_path.iterdir())) == 1
    assert read_checkpoint(tmp_path).position.step == 1


@pytest.mark.parametrize("room", [0, 20, 1000, 2500])
def test_a_disk_that_is_full_after_so_many_bytes(tmp_path, room):
    kernel = np.ones((20, 30))
    size = write_checkpoint(tmp_path, Position(1, []), variables(kernel)).stat().st_size
    assert room < size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        with pytest.raises(OSError, match="could not be written"):
            write_checkpoint(tmp_path, Position(2, []), variables(kernel))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [file.name for file in tmp_path.iterdir()] == ["step-000000001.safetensors"]
    assert read_checkpoint(tmp_path).position.step == 1


def test_one_that_was_deleted_is_no_matter(tmp_path):
    for step in (1, 2):
        write(tmp_path, step)
    os.remove(tmp_path / "step-000000001.safetensors")
    write(tmp_path, 3)
    assert steps(tmp_path) == [2, 3]


def test_a_folder_that_was_deleted_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="could not be written"):
        write(tmp_path / "gone", 1)


def test_a_weight_that_is_not_finite_leaves_the_one_before(tmp_path):
    write(tmp_path, 1)
    with pytest.raises(ValueError, match="not a finite number"):
        write_checkpoint(tmp_path, Position(2, []), variables(KERNEL * np.nan), finite=1)
    assert [file.name for file in tmp_path.iterdir()] == ["step-000000001.safetensors"]
    assert read_checkpoint(tmp_path).position.step == 1
