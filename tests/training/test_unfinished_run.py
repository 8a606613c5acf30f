import json
import os

import pytest

from kerazoo.training.checkpoint import Position, write_checkpoint
from kerazoo.training.unfinished_run import MAY_CHANGE, UnfinishedRun


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


@pytest.mark.parametrize("name", MAY_CHANGE)
def test_what_changes_nothing_may_change(tmp_path, name):
    UnfinishedRun(tmp_path / "out", resume=False).begin({"seed": 3, name: 500})
    again = UnfinishedRun(tmp_path / "out", resume=True)
    again.begin({"seed": 3, name: 7})
    with pytest.raises(ValueError, match=f"only .*{name}.* may be others"):
        UnfinishedRun(tmp_path / "out", resume=True).begin({"seed": 4, name: 7})


BEGUN = {"data": ["a"], "rows": "58", "validation": "b", "validation_rows": "99"}


def test_data_may_lie_elsewhere_if_the_rows_are_the_same(tmp_path):
    UnfinishedRun(tmp_path / "out", resume=False).begin(BEGUN)
    moved = {**BEGUN, "data": ["c", "d"], "validation": "e"}
    for where in (moved, {**moved, "data": ["f"]}):
        again = UnfinishedRun(tmp_path / "out", resume=True)
        again.begin(where)
        assert again.is_resumed


@pytest.mark.parametrize(
    "change, told",
    [
        ({"data": ["c"], "rows": "59"}, "other rows in the data"),
        ({"validation": "c", "validation_rows": "98"}, "other rows in the validation data"),
        ({"validation": None}, "validation=None instead of 'b'"),
        ({"preset": "p"}, "preset='p' instead of None"),
    ],
)
def test_other_data_are_another_run(tmp_path, change, told):
    UnfinishedRun(tmp_path / "out", resume=False).begin(BEGUN)
    with pytest.raises(ValueError, match=told):
        UnfinishedRun(tmp_path / "out", resume=True).begin({**BEGUN, **change})


def test_an_earlier_version_knew_the_path_of_validation_data_alone(tmp_path):
    begun = {name: value for name, value in BEGUN.items() if name != "validation_rows"}
    UnfinishedRun(tmp_path / "out", resume=False).begin(begun)
    defaults = {"validation_rows": BEGUN["validation_rows"]}
    UnfinishedRun(tmp_path / "out", resume=True).begin(BEGUN, defaults)
    with pytest.raises(ValueError, match="Received: validation='c' instead of 'b'"):
        UnfinishedRun(tmp_path / "out", resume=True).begin({**BEGUN, "validation": "c"}, defaults)


def test_a_checkpoint_of_another_run_is_refused(begun):
    write_checkpoint(begun.folder, Position(4, [], None, {"seed": 5, "data": ["a"]}), [])
    with pytest.raises(ValueError, match="seed=3 instead of 5"):
        begun.last_checkpoint(lambda sentence: None)


def test_a_folder_that_cannot_be_made_is_told(tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(tmp_path), "mkdir", refuse)
    with pytest.raises(PermissionError, match="cannot be kept there .* Choose another output"):
        UnfinishedRun(tmp_path / "out", resume=False).begin({})


def fail(output, begins=True, work=lambda run: None):
    """Return what is said when the block of an opened run fails."""
    said = []
    with pytest.raises(KeyError), UnfinishedRun.opened(output, True, said.append) as run:
        if begins:
            run.begin({"seed": 3, "data": ["a"]})
        work(run)
        raise KeyError
    return said


@pytest.mark.parametrize("begins", [False, True])
def test_a_failed_run_without_a_checkpoint_leaves_nothing(tmp_path, begins):
    def work(run):
        if begins:
            (run.output / "history.jsonl").write_text("{}")

    assert fail(tmp_path / "parent" / "out", begins, work) == []
    assert not any(tmp_path.iterdir())


def test_a_checkpoint_is_kept(begun):
    (begun.folder / "step-000000004.safetensors").write_bytes(b"")
    (sentence,) = fail(begun.output)
    assert "--resume goes on" in sentence
    assert begun.folder.is_dir()


def test_what_was_begun_before_is_not_removed(begun):
    assert fail(begun.output, begins=False) == []
    assert begun.folder.is_dir()


def test_one_process_at_a_time(tmp_path):
    with (
        UnfinishedRun.opened(tmp_path / "out", False, print),
        pytest.raises(BlockingIOError, match="is being written to by process"),
        UnfinishedRun.opened(tmp_path / "out", False, print),
    ):
        pass


def test_what_a_killed_process_left_is_removed(begun):
    part = begun.folder / "step-000000004.safetensors.77.part"
    part.write_bytes(b"half")
    UnfinishedRun(begun.output, resume=True).begin({"seed": 3, "data": ["a"]})
    assert not part.exists()


def test_a_complete_run_says_what_it_was_begun_with(begun):
    (begun.output / "config.json").write_text("model")
    begun.finish()
    assert sorted(path.name for path in begun.output.iterdir()) == ["config.json", "run.json"]
    again = UnfinishedRun(begun.output, resume=True)
    again.begin({"seed": 3, "data": ["a"]})
    assert again.is_complete
    with pytest.raises(ValueError, match="seed=4 instead of 3"):
        UnfinishedRun(begun.output, resume=True).begin({"seed": 4, "data": ["a"]})
    with pytest.raises(FileExistsError, match="something at the output path"):
        UnfinishedRun(begun.output, resume=False)


def test_killed_while_a_complete_run_was_tidied_up(begun):
    (begun.folder / "step-000000004.safetensors").touch()
    os.replace(begun.folder / "run.json", begun.output / "run.json")
    again = UnfinishedRun(begun.output, resume=True)
    again.begin({"seed": 3, "data": ["a"]})
    assert again.is_complete
    assert not again.folder.exists()


@pytest.mark.parametrize("resume", [True, False])
def test_killed_before_the_first_file(tmp_path, resume):
    (tmp_path / "out" / ".unfinished").mkdir(parents=True)
    (tmp_path / "out" / ".unfinished" / "run.json.77").touch()
    run = UnfinishedRun(tmp_path / "out", resume)
    run.begin({"seed": 3})
    assert not run.is_resumed
    assert UnfinishedRun(tmp_path / "out", resume=True).is_resumed


def test_all_that_differs_is_named(begun):
    run = UnfinishedRun(begun.output, resume=True)
    with pytest.raises(ValueError, match=r"seed=5 instead of 3, data=\['b'\] instead of \['a'\]$"):
        run.begin({"seed": 5, "data": ["b"]})


@pytest.mark.parametrize(("name", "words"), [("rows", ""), ("validation_rows", "validation ")])
def test_other_rows_are_said_without_their_fingerprints(tmp_path, name, words):
    UnfinishedRun(tmp_path / "out", resume=False).begin({name: "9b80"})
    with pytest.raises(ValueError, match=f"Received: other rows in the {words}data than"):
        UnfinishedRun(tmp_path / "out", resume=True).begin({name: "5899"})


def test_a_setting_that_did_not_exist_then_has_its_default(begun):
    description = {"seed": 3, "data": ["a"], "rematerialize": False}
    UnfinishedRun(begun.output, resume=True).begin(description, {"rematerialize": False})
    with pytest.raises(ValueError, match="rematerialize=True instead of False"):
        UnfinishedRun(begun.output, resume=True).begin(
            {**description, "rematerialize": True}, {"rematerialize": False}
        )


@pytest.mark.parametrize("content", [None, "{"])
def test_checkpoints_are_enough_to_go_on(begun, content):
    write_checkpoint(begun.folder, Position(4, [], None, {"seed": 3, "data": ["a"]}), [])
    file = begun.folder / "run.json"
    file.unlink()
    if content is not None:
        file.write_text(content)
    other = UnfinishedRun(begun.output, resume=True)
    assert other.is_resumed
    other.begin({"seed": 4, "data": ["a"]})
    with pytest.raises(ValueError, match="seed=4 instead of 3"):
        other.last_checkpoint(print)
    again = UnfinishedRun(begun.output, resume=True)
    again.begin({"seed": 3, "data": ["a"]})
    assert again.last_checkpoint(print).position.step == 4
    assert json.loads(file.read_text()) == {"seed": 3, "data": ["a"]}


def test_where_all_checkpoints_are_damaged_nothing_promises_to_go_on(begun):
    for step in (4, 8):
        (begun.folder / f"step-{step:09d}.safetensors").write_bytes(b"damaged")
    said = []
    with (
        pytest.raises(ValueError, match="All checkpoints of the run are damaged"),
        UnfinishedRun.opened(begun.output, True, said.append) as run,
    ):
        run.begin({"seed": 3, "data": ["a"]})
        run.last_checkpoint(said.append)
    assert len(said) == 1 and "passed over" in said[0]
    assert len(list(begun.folder.glob("step-*"))) == 2
