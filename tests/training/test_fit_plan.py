import pytest

from kerazoo.training.fit_plan import FitPart, fit_plan


def test_a_whole_run_is_stretches_and_what_is_left():
    assert fit_plan(0, 23, 5) == [FitPart(0, 5, 0, 4), FitPart(20, 3, 4, 5)]
    assert fit_plan(0, 20, 5) == [FitPart(0, 5, 0, 4)]
    assert fit_plan(0, 3, 5) == [FitPart(0, 3, 0, 1)]


def test_a_resumed_run_first_goes_on_to_the_next_evaluation():
    assert fit_plan(7, 23, 5) == [FitPart(7, 3, 1, 2), FitPart(10, 5, 2, 4), FitPart(20, 3, 4, 5)]
    assert fit_plan(10, 23, 5)[0] == FitPart(10, 5, 2, 4)
    assert fit_plan(21, 23, 5) == [FitPart(21, 2, 4, 5)]
    assert fit_plan(23, 23, 5) == []


@pytest.mark.parametrize("first", range(24))
def test_parts_follow_each_other_and_reach_the_end(first):
    step = first
    for part in fit_plan(first, 23, 5):
        assert part.first_step == step
        step += part.steps_per_epoch * (part.epochs - part.initial_epoch)
        assert step % 5 == 0 or step == 23
    assert step == 23
