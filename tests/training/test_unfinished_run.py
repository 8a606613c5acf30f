import pytest

from kerazoo.training.unfinished_run import UnfinishedRun


@pytest.fixture
def begun(tmp_path):
    run = UnfinishedRun(tmp_path / "out", resume=False)
    run.begin({"seed": 3, "data": ["a"]})
    return run


def test_looking_writes_nothing(tmp_path):
    assert not UnfinishedRun(tmp_path / "out", resume=False).is_resumed
    assert not list(tmp_path.iterdir())


def test_an_unfinished_run_is_taken_up_only_when_asked(begun):
    with pytest.raises(FileExistsError, match="Go on with it by --resume"):
        UnfinishedRun(begun.output, resume=False)
    again = UnfinishedRun(begun.output, resume=True)
    assert again.is_resumed
    again.begin({"seed": 3, "data": ("a",)})


def test_another_run_is_refused_by_name(begun):
    again = UnfinishedRun(begun.output, resume=True)
    with pytest.raises(ValueError, match="Received: seed=4 instead of 3"):
        again.begin({"seed": 4, "data": ["a"]})


def test_nothing_there_begins_anew(tmp_path):
    assert not UnfinishedRun(tmp_path / "out", resume=True).is_resumed


@pytest.mark.parametrize("resume", [True, False])
def test_something_else_is_left_as_it_is(tmp_path, resume):
    (tmp_path / "config.json").write_text("precious")
    with pytest.raises(FileExistsError, match="something at the output path"):
        UnfinishedRun(tmp_path, resume)


def test_a_failed_run_without_a_checkpoint_leaves_nothing(begun):
    assert not begun.keep_if_saved()
    assert not begun.output.exists()


def test_a_checkpoint_is_kept(begun):
    (begun.folder / "step-000000004.safetensors").write_bytes(b"")
    assert begun.keep_if_saved()
    assert begun.folder.is_dir()


def test_a_finished_run_has_no_trace(begun):
    (begun.output / "config.json").write_text("model")
    begun.finish()
    assert [path.name for path in begun.output.iterdir()] == ["config.json"]
