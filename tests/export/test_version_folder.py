import pytest

from kerazoo.export.version_folder import find_version_folder, is_version_name


def make_version(base, name):
    (base / name).mkdir(parents=True)
    (base / name / "saved_model.pb").write_bytes(b"")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("1", True), ("00000010", True), ("1.2", False), ("v1", False), ("-1", False), ("１", False)],
)
def test_version_names_are_whole_numbers(name, expected):
    assert is_version_name(name) is expected


def test_a_version_folder_is_found_by_itself(tmp_path):
    make_version(tmp_path, "model")
    assert find_version_folder(tmp_path / "model") == tmp_path / "model"


def test_the_highest_number_wins_not_the_last_name(tmp_path):
    for name in ("2", "9", "0010", "unfinished-77"):
        make_version(tmp_path, name)
    assert find_version_folder(str(tmp_path)) == tmp_path / "0010"


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"does not exist. Received: path=.*nowhere"):
        find_version_folder(tmp_path / "nowhere")


def test_a_file_is_not_a_saved_model(tmp_path):
    file = tmp_path / "saved_model.pb"
    file.write_bytes(b"")
    with pytest.raises(ValueError, match="A SavedModel is a folder, but this is a file"):
        find_version_folder(file)


def test_a_folder_without_versions_is_not_a_saved_model(tmp_path):
    make_version(tmp_path, "unfinished-1")
    with pytest.raises(ValueError, match="The folder is not a SavedModel"):
        find_version_folder(tmp_path)


def test_a_highest_version_without_a_model_is_said(tmp_path):
    make_version(tmp_path, "3")
    (tmp_path / "4").mkdir()
    with pytest.raises(ValueError, match=r"highest version, 4, and that folder has no saved_model"):
        find_version_folder(tmp_path)
