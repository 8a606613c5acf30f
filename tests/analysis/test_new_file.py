import pytest

from kerazoo.analysis.new_file import check_can_be_written, new_file


def test_a_file_appears_whole(tmp_path):
    path = tmp_path / "deep" / "table.csv"
    with new_file(path) as file:
        file.write_text("a,b\n")
        assert not path.exists() and file.suffix == ".csv"
    assert path.read_text() == "a,b\n"
    assert [child.name for child in path.parent.iterdir()] == ["table.csv"]


def test_an_error_leaves_what_was_there(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("before")
    with pytest.raises(RuntimeError), new_file(path) as file:
        file.write_text("half")
        raise RuntimeError
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_and_files_in_the_way_are_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(IsADirectoryError, match="Name a file in it"):
        check_can_be_written(tmp_path)
    with pytest.raises(NotADirectoryError, match="is a file, so nothing"):
        check_can_be_written(tmp_path / "file" / "plot.png")
