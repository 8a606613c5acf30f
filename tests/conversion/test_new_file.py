import errno
import os

import pytest

from kerazoo.conversion.new_file import check_can_be_created, new_file


def test_the_file_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "deep" / "vocab.txt"
    with new_file(path) as temporary:
        temporary.write_text("a")
        assert not path.exists() and temporary.suffix == ".txt"
    assert path.read_text() == "a"
    assert os.listdir(path.parent) == ["vocab.txt"]


def test_an_error_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), new_file(tmp_path / "vocab.txt") as temporary:
        temporary.write_text("a")
        raise RuntimeError
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_there_stays_and_is_called_what_it_is(tmp_path, kind):
    path = tmp_path / "vocab.txt"
    if kind == "folder":
        path.mkdir()
    else:
        path.write_text("precious")
    with (
        pytest.raises(FileExistsError, match=f"There is a {kind} of this name.*another name"),
        new_file(path),
    ):
        raise AssertionError("the block must not run")
    assert os.listdir(tmp_path) == ["vocab.txt"]


def test_where_no_file_can_be_the_name_that_was_given_is_said(tmp_path):
    (tmp_path / "a.tsv").write_text("kept")
    with (
        pytest.raises(NotADirectoryError, match=r"a\.tsv is a file.*nothing was written"),
        new_file(tmp_path / "a.tsv" / "vocab.txt"),
    ):
        raise AssertionError("the block must not run")
    for path in ("/proc/vocab.txt", "/proc/deep/vocab.txt"):
        with (
            pytest.raises(OSError, match="Nothing can be written there") as raised,
            new_file(path),
        ):
            raise AssertionError("the block must not run")
        assert raised.value.filename == path
        assert raised.value.errno == errno.ENOENT


def test_what_cannot_be_created_is_told_and_the_check_leaves_no_file(tmp_path):
    check_can_be_created(tmp_path / "deep" / "page.html")
    assert os.listdir(tmp_path / "deep") == []
    for path in ("/proc/page.html", "/proc/deep/page.html"):
        with pytest.raises(OSError, match="Nothing can be written there") as raised:
            check_can_be_created(path)
        assert raised.value.filename == path
    (tmp_path / "page.html").write_text("kept")
    with pytest.raises(FileExistsError):
        check_can_be_created(tmp_path / "page.html")
