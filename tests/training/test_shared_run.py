import shutil
import tempfile
from pathlib import Path

import keras
import numpy as np
import pytest
from meetings import meetings_of, results_of

from kerazoo.training.checkpoint import Position, write_checkpoint
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.shared_run import SharedRun
from kerazoo.training.unfinished_run import UnfinishedRun

SETTINGS = {"seed": 3, "rows": "5899"}
ALL_SHARE = "All processes go on from the checkpoint of the first one, so its output folder has"


def write(run, step, value):
    weight = keras.Variable(np.full((2, 3), value))
    return write_checkpoint(run.folder, Position(step, [], None, run.description), [weight])


@pytest.fixture
def output(tmp_path):
    """The output of a run that was killed after step 8, with checkpoints after 4 and 8."""
    run = UnfinishedRun(tmp_path / "out", resume=False)
    run.begin(SETTINGS)
    for step in (4, 8):
        write(run, step, step)
    return run.output


def damage(file):
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)


def begun(outputs, tmp_path, resume=True, settings=None):
    """What three processes give that go on together, each with its own view of the output."""
    meetings = meetings_of(len(outputs))
    settings = settings or [SETTINGS] * len(outputs)

    def process(number):
        meeting = meetings[number]
        own = Path(tempfile.mkdtemp(dir=tmp_path)) / f"own-{number}"
        try:
            run = SharedRun(outputs[0] if number == 0 else own, resume, outputs[number], meeting)
            run.begin(settings[number])
        except ValueError as error:
            meeting.excuse(error)
            raise
        said = []
        checkpoint = run.last_checkpoint(said.append)
        assert meeting.is_over
        return run, checkpoint, said

    return results_of(*(lambda n=n: process(n) for n in range(len(outputs))))


def listing(folder):
    return {path: path.stat().st_mtime_ns for path in sorted(folder.rglob("*"))}


def test_all_go_on_from_the_same_checkpoint(output, tmp_path):
    before = listing(output)
    results = begun([output] * 3, tmp_path)
    for run, checkpoint, said in results:
        assert checkpoint.position.step == 8
        assert checkpoint.stored.value(0)[1, 2] == 8
        assert said == []
        assert run.is_resumed == (run.output == output)
    assert [run.output.name for run, _, _ in results] == ["out", "own-1", "own-2"]
    assert listing(output) == before


def test_all_take_the_one_before_if_the_newest_is_damaged(output, tmp_path):
    damage(checkpoint_files(output / ".unfinished")[-1])
    first, second, third = begun([output] * 3, tmp_path)
    assert [checkpoint.position.step for _, checkpoint, _ in (first, second, third)] == [4, 4, 4]
    assert "step-000000008.safetensors is damaged" in first[2][0]
    assert second[2] == third[2] == []


def test_the_first_one_decides_where_it_alone_finds_the_newest_damaged(output, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(output, other)
    damage(checkpoint_files(output / ".unfinished")[-1])
    assert [result[1].position.step for result in begun([output, other], tmp_path)] == [4, 4]


def change_nothing(files):
    pass


def lose_the_folder(files):
    shutil.rmtree(files[0].parents[1])


def lose_the_newest(files):
    files[-1].unlink()


def damage_the_newest(files):
    damage(files[-1])


def write_another_one(files):
    run = UnfinishedRun(files[0].parents[1], resume=True)
    run.begin(SETTINGS)
    write(run, 8, 5.0)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lose_the_folder, "does not find .unfinished/step-000000008.safetensors there"),
        (lose_the_newest, "does not find .unfinished/step-000000008.safetensors there"),
        (damage_the_newest, "step-000000008.safetensors is damaged: its checksum is another one"),
        (write_another_one, "finds another .unfinished/step-000000008.safetensors there"),
    ],
)
def test_another_folder_ends_all(output, tmp_path, change, sentence):
    other = tmp_path / "other"
    shutil.copytree(output, other)
    change(checkpoint_files(other / ".unfinished"))
    before = listing(output)
    first, second, third = begun([output, output, other], tmp_path)
    assert sentence in third
    assert first == second == f"Process 3 of 3 cannot begin, so none does. It says: {third}"
    assert listing(output) == before


def test_a_folder_that_the_first_one_alone_does_not_see_ends_all(output, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    first, second = begun([elsewhere, output], tmp_path)
    assert second.startswith(ALL_SHARE)
    assert "finds step-000000004.safetensors, step-000000008.safetensors there, and" in second
    assert second in first


def test_other_settings_of_one_end_all(output, tmp_path):
    settings = [SETTINGS, {**SETTINGS, "seed": 4}]
    first, second = begun([output] * 2, tmp_path, settings=settings)
    assert "seed=4 instead of 3" in second
    assert second in first
    first, second = begun([output] * 2, tmp_path, settings=settings[::-1])
    assert "seed=4 instead of 3" in first
    assert first in second


def test_a_complete_run_is_complete_for_all(output, tmp_path):
    run = UnfinishedRun(output, resume=True)
    run.begin(SETTINGS)
    run.finish()
    first, second = begun([output] * 2, tmp_path)
    for run, checkpoint, _ in (first, second):
        assert (run.is_complete, run.output, checkpoint) == (True, output, None)
    settings = [SETTINGS, {**SETTINGS, "rows": "9b80"}]
    first, second = begun([output] * 2, tmp_path, settings=settings)
    assert "other rows in the data" in second
    first, second = begun([output, tmp_path / "elsewhere"], tmp_path)
    assert "does not find run.json there" in second
    assert second in first


@pytest.mark.parametrize("resume", [True, False])
def test_nothing_there_begins_anew(tmp_path, resume):
    # Without `resume` each may have an output folder of its own.
    outputs = [tmp_path / "out"] * 2 if resume else [tmp_path / "out", tmp_path]
    for run, checkpoint, _ in begun(outputs, tmp_path, resume):
        assert (run.is_resumed, run.is_complete, checkpoint) == (False, False, None)
        assert (run.folder / "run.json").is_file()
