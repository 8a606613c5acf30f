import pytest

from kerazoo.conversion.new_folder import new_folder, updated_folder


def test_the_folder_appears_when_it_is_whole(tmp_path):
    path = tmp_path / "deep" / "model"
    with new_folder(path) as temporary:
        (temporary / "a.txt").write_text("a")
        assert not path.exists()
        assert temporary.parent == path.parent
    assert [child.name for child in path.iterdir()] == ["a.txt"]
    assert [child.name for child in path.parent.iterdir()] == ["model"]
    assert path.stat().st_mode & 0o777 == 0o755


def test_an_error_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), new_folder(tmp_path / "model") as temporary:
        (temporary / "a.txt").write_text("a")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_empty_folder_is_taken(tmp_path):
    (tmp_path / "model").mkdir()
    with new_folder(str(tmp_path / "model")) as temporary:
        (temporary / "a.txt").write_text("a")
    assert (tmp_path / "model" / "a.txt").is_file()


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_what_is_there_stays_as_it_is(tmp_path, kind):
    path = tmp_path / "model"
    kept = path if kind == "file" else path / "config.json"
    kept.parent.mkdir(exist_ok=True)
    kept.write_text("kept")
    with (
        pytest.raises(FileExistsError, match="nothing was written.*Received: path="),
        new_folder(path),
    ):
        raise AssertionError("the block must not run")
    assert kept.read_text() == "kept"
    assert [child.name for child in tmp_path.iterdir()] == ["model"]


def test_a_file_on_the_way_is_named(tmp_path):
    (tmp_path / "a.tsv").write_text("kept")
    with (
        pytest.raises(NotADirectoryError, match=r"a\.tsv is a file.*nothing was written"),
        new_folder(tmp_path / "a.tsv" / "deep" / "model"),
    ):
        raise AssertionError("the block must not run")
    assert (tmp_path / "a.tsv").read_text() == "kept"


def test_what_appears_meanwhile_stays_too(tmp_path):
    path = tmp_path / "model"
    with pytest.raises(FileExistsError), new_folder(path) as temporary:
        (temporary / "a.txt").write_text("a")
        path.mkdir()
        (path / "other.txt").write_text("other")
    assert [child.name for child in path.iterdir()] == ["other.txt"]


def test_updated_files_replace_the_old_ones_and_leave_the_others(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.txt").write_text("old")
    (tmp_path / "model" / "notes.txt").write_text("mine")
    with updated_folder(tmp_path / "model") as temporary:
        (temporary / "a.txt").write_text("new")
        (temporary / "deep").mkdir()
        (temporary / "deep" / "b.txt").write_text("b")
        assert (tmp_path / "model" / "a.txt").read_text() == "old"
    contents = {f.name: f.read_text() for f in (tmp_path / "model").rglob("*.txt")}
    assert contents == {"a.txt": "new", "notes.txt": "mine", "b.txt": "b"}
    assert [child.name for child in tmp_path.iterdir()] == ["model"]


def test_a_failed_update_changes_nothing(tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "a.txt").write_text("old")
    with pytest.raises(OSError), updated_folder(tmp_path / "model") as temporary:
        (temporary / "a.txt").write_text("half")
        raise OSError(28, "No space left on device")
    assert (tmp_path / "model" / "a.txt").read_text() == "old"
    assert [child.name for child in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("create", [new_folder, updated_folder])
def test_where_no_folder_can_be_created_the_callers_path_is_named(create):
    with pytest.raises(OSError, match="Nothing can be written there") as caught:  # noqa: SIM117
        with create("/proc/model"):
            pass
    assert caught.value.filename == "/proc/model"
