import pytest

from kerazoo.training.checkpoint_folder import (
    checkpoint_files,
    checkpoint_name,
    remove_checkpoints,
    remove_unfinished,
)


@pytest.fixture
def steps(tmp_path):
    """A function that makes checkpoints after steps, removes old ones, and says which are left."""

    def left(*written, **options):
        for step in written:
            (tmp_path / checkpoint_name(step)).touch()
        remove_checkpoints(tmp_path, **options)
        return [int(file.stem.removeprefix("step-")) for file in checkpoint_files(tmp_path)]

    return left


def test_the_last_ones_stay(steps):
    assert steps(9, 2, 10, 4, step=10, keep=2, best=[]) == [9, 10]


def test_the_best_one_stays(steps):
    assert steps(2, 4, 9, 10, step=10, keep=2, best=[4]) == [4, 9, 10]
    assert steps(step=10, keep=2, best=[9]) == [9, 10]


def test_a_damaged_one_of_a_later_step_takes_no_place(steps):
    assert steps(4, 6, 8, step=6, keep=2, best=[]) == [4, 6]


def test_what_a_killed_process_left_is_removed(tmp_path):
    (tmp_path / f"{checkpoint_name(3)}.123.part").touch()
    (tmp_path / checkpoint_name(2)).touch()
    remove_unfinished(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == [checkpoint_name(2)]
