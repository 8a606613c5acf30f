import h5py
import pytest

from kerazoo.conversion.preset_weights import check_preset_weights


def test_a_whole_file_and_shards_are_accepted(tmp_path):
    with h5py.File(tmp_path / "task.weights.h5", "w") as file:
        file["a"] = [1.0]
    check_preset_weights(tmp_path, "task.weights.h5")
    (tmp_path / "model.weights.json").write_text("{}")
    check_preset_weights(tmp_path)


def test_a_missing_file_is_named(tmp_path):
    (tmp_path / "model.weights.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match=r"There is no task\.weights\.h5 in "):
        check_preset_weights(tmp_path, "task.weights.h5")


@pytest.mark.parametrize("kept", [0, 5, -9])
def test_a_truncated_file_is_named(tmp_path, kept):
    path = tmp_path / "model.weights.h5"
    with h5py.File(path, "w") as file:
        file["a"] = [1.0] * 1000
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(ValueError, match=r"model\.weights\.h5 is truncated or not an HDF5 file"):
        check_preset_weights(tmp_path)
