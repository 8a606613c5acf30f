"""The calls of `fit` that make up a run with an evaluation every so many steps."""

from typing import NamedTuple


class FitPart(NamedTuple):
    """One call of `fit`, whose epochs are the stretches between two evaluations.

    Attributes:
        first_step: int, steps that were done before.
        steps_per_epoch: int.
        initial_epoch: int, evaluations that were done before.
        epochs: int, evaluations that are done afterwards.
    """

    first_step: int
    steps_per_epoch: int
    initial_epoch: int
    epochs: int


def fit_plan(first_step: int, total_steps: int, evaluate_every: int) -> list[FitPart]:
    """Return at most three parts: to the next evaluation, whole stretches, and what is left.

    Args:
        first_step: int, steps that were done before.
        total_steps: int, steps of the run; an evaluation follows the last one.
        evaluate_every: int, steps between two evaluations, counted from step 0.
    """
    parts = []
    step = first_step
    while step < total_steps:
        epoch, done = divmod(step, evaluate_every)
        steps = min(evaluate_every - done, total_steps - step)
        count = (total_steps - step) // evaluate_every if steps == evaluate_every else 1
        parts.append(FitPart(step, steps, epoch, epoch + count))
        step += steps * count
    return parts
