"""What saving and guarding cost: the share of training time that both take.

Command:   .venv/bin/python benchmarks/checkpoint_cost.py [--size mini] [--quick]
Time:      3 minutes for `mini` on two slow cores with --rounds 3 --steps 4, --quick less

Compared:  the seconds of a step of masked-language modelling with those of writing a checkpoint
           (weights, optimizer, checksum, fsync) on each backend, taken in turns. The share is what
           one checkpoint adds to `checkpoint_every` steps. And a step whose update is left out if a
           gradient is not finite (`GuardedUpdate`) with one that is not guarded.
Same work: both backends train the same new model on the same random rows. The disk is that of the
           temporary folder (`TMPDIR`).
"""

import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure

BATCH = 32
SEQUENCE_LENGTH = 128
MASKS = 20
_GUARDED = ("step", "unguarded")


def make_side(size: str, steps: int, folder: str) -> Callable[..., Any]:
    """Make a model and return what answers with seconds of a step and of a checkpoint."""
    import time

    import numpy as np

    import kerazoo
    from kerazoo.backbones.sizes import named_size
    from kerazoo.optimizers.adamw import create_optimizer
    from kerazoo.training.checkpoint import Position, read_checkpoint, write_checkpoint

    def new_task(on_non_finite: str | None) -> Any:
        sizes = {**named_size("bert", size), "max_sequence_length": SEQUENCE_LENGTH}
        task = kerazoo.MaskedLM(kerazoo.BertBackbone(**sizes))
        task.compile(create_optimizer(1e-4, 0.01, 1.0, on_non_finite))
        task.optimizer.build(task.trainable_variables)
        return task

    task, unguarded = new_task("stop"), new_task(None)
    vocabulary = task.backbone.config.vocabulary_size
    draw = np.random.default_rng(0)
    ids = draw.integers(5, vocabulary, (BATCH, SEQUENCE_LENGTH), dtype="int32")
    features = {
        "token_ids": ids,
        "segment_ids": np.zeros_like(ids),
        "padding_mask": np.ones_like(ids),
        "mask_positions": draw.integers(1, SEQUENCE_LENGTH, (BATCH, MASKS), dtype="int32"),
    }
    targets = draw.integers(5, vocabulary, (BATCH, MASKS), dtype="int32")

    def seconds_of_step(task: Any) -> float:
        began = time.perf_counter()
        for _ in range(steps):
            loss = task.train_on_batch(features, targets, np.ones_like(targets, "float32"))
        float(loss[0])
        return (time.perf_counter() - began) / steps

    def answer() -> dict[str, float]:
        said = {"unguarded": seconds_of_step(unguarded), "step": seconds_of_step(task)}
        variables = [*task.variables, *task.optimizer.variables]
        began = time.perf_counter()
        file = write_checkpoint(Path(folder), Position(steps, []), variables, finite=len(variables))
        written = time.perf_counter()
        read_checkpoint(Path(folder))
        return {
            **said,
            "checkpoint": written - began,
            "read": time.perf_counter() - written,
            "megabytes": file.stat().st_size / 1e6,
        }

    answer()
    return answer


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__, rounds=3)
    parser.add_argument("--size", default="mini", help="a named size of BERT")
    parser.add_argument("--steps", type=int, default=10, help="steps of a turn")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.steps = 1, 3
    from kerazoo.training.pretrain_config import PretrainConfig

    before = measure.machine()
    with measure.Sides(__file__, given.threads) as sides:
        started = [
            sides.start(
                *(name, name),
                size=given.size,
                steps=given.steps,
                folder=sides.enter_context(tempfile.TemporaryDirectory()),
            )
            for name in ("tensorflow", "jax")
        ]
        for side in started:
            side.wait()
        answers = measure.take_turns(started, given.rounds)
    every = PretrainConfig.checkpoint_every
    rows = []
    for name, said in answers.items():
        middle = {key: statistics.median(answer[key] for answer in said) for key in said[0]}
        rows.append(
            {
                "backend": name,
                "step, ms": 1000 * middle["step"],
                "× unguarded": measure.ratio(*([a[key] for a in said] for key in _GUARDED)),
                "checkpoint, ms": 1000 * middle["checkpoint"],
                "read and verify, ms": 1000 * middle["read"],
                "MB": middle["megabytes"],
                f"% of {every} steps": 100 * middle["checkpoint"] / (every * middle["step"]),
            }
        )
    title = (
        f"Checkpoints of BERT-{given.size}, batches of {BATCH} × {SEQUENCE_LENGTH} tokens, "
        f"medians of {given.rounds} rounds"
    )
    measure.publish(title, rows, before, given.json)


if __name__ == "__main__":
    measure.run(main, make_side)
