"""Memory and time of a training step: everything kept, blocks computed twice, a batch in parts.

Command:   .venv/bin/python benchmarks/rematerialization.py [--size small] [--quick]
Time:      some minutes; a minute with --quick

Compared:  a step of `TextClassifier` on each Keras backend: plain, with `backbone.rematerialize`,
           and with `task.accumulate(4)`.
Same work: the same random weights, rows, dropout of 0.1 and optimizer (AdamW), float32; the losses
           of the first two agree within 1e-4 (a batch in parts draws other dropout).
Columns:   "+ MB" is the largest memory of the side's own process while it trains, less what it held
           when its model was made, so weights' gradients and the optimizer's slots are in it.
           "× time" is the side's seconds a step over those of the plain one, the median over the
           rounds.
"""

import statistics
import time
from pathlib import Path
from typing import Any

import measure

SIDES = {"plain": {}, "rematerialize": {"rematerialize": True}, "in 4 parts": {"parts": 4}}

# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(
    size: str, batch: int, length: int, rematerialize: bool = False, parts: int = 1
) -> Any:
    """Make a task and return what trains some steps and answers with seconds, loss and memory."""
    import keras
    import numpy as np

    import kerazoo

    keras.utils.set_random_seed(7)
    rows = np.random.default_rng(7)
    inputs = {
        "token_ids": rows.integers(1000, 30_000, (batch, length), dtype="int32"),
        "segment_ids": np.zeros((batch, length), "int32"),
        "padding_mask": np.ones((batch, length), "int32"),
    }
    labels = rows.integers(0, 2, batch, dtype="int32")
    backbone = kerazoo.BertBackbone.from_size(size, max_sequence_length=length)
    backbone.rematerialize = rematerialize
    task = kerazoo.TextClassifier(backbone, num_classes=2)
    task.accumulate(parts)
    task.compile(optimizer=keras.optimizers.AdamW(1e-4))
    held = measure.megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far

    def answer(steps: int) -> dict[str, float]:
        started = time.perf_counter()
        loss = [float(task.train_on_batch(inputs, labels)[0]) for _ in range(steps)][0]
        seconds = (time.perf_counter() - started) / steps
        return {"seconds": seconds, "loss": loss, "memory": measure.megabytes("VmHWM") - held}

    return answer


# ---- the benchmark ------------------------------------------------------------------------------


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__, rounds=3)
    parser.add_argument("--backends", nargs="+", default=["tensorflow", "jax", "torch"])
    parser.add_argument("--size", default="small", help="a size of BERT")
    parser.add_argument("--batch", type=int, default=16, help="rows of a batch")
    parser.add_argument("--length", type=int, default=256, help="tokens of a row")
    parser.add_argument("--steps", type=int, default=2, help="steps of a round")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.size, given.backends = 1, "mini", ["tensorflow"]
    before = measure.machine()
    rows = []
    for backend in given.backends:
        rows += _rows_of(backend, given)
    measure.publish(
        f"BERT-{given.size}, {given.batch} rows of {given.length} tokens, {given.threads} threads, "
        f"{given.rounds} rounds of {given.steps} steps.",
        rows,
        before,
        given.json,
    )


def _rows_of(backend: str, given: Any) -> list[dict[str, Any]]:
    role = {"size": given.size, "batch": given.batch, "length": given.length}
    with measure.Sides(__file__, given.threads) as sides:
        started = [sides.start(name, backend, **role, **more) for name, more in SIDES.items()]
        for side in started:
            side.wait()
        first = {side.name: side.ask(steps=1)["loss"] for side in started}  # it compiles
        measure.check_equal({name: [[first[name]]] for name in ("plain", "rematerialize")}, 1e-4)
        answers = measure.take_turns(started, given.rounds, steps=given.steps)
    seconds = {name: [turn["seconds"] for turn in turns] for name, turns in answers.items()}
    return [
        {
            "backend": backend,
            "side": name,
            "+ MB": max(turn["memory"] for turn in turns),
            "seconds a step": statistics.median(seconds[name]),
            "× time": measure.ratio(seconds[name], seconds["plain"]),
        }
        for name, turns in answers.items()
    ]


if __name__ == "__main__":
    measure.run(main, make_side)
