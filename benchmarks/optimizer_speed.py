"""The time to the first step, and of each step, with kerazoo's AdamW and with Keras's.

Command:   .venv/bin/python benchmarks/optimizer_speed.py [--sizes mini base] [--quick]
Time:      a few minutes with --quick; the full run is for a machine that does nothing else

Compared:  one text classifier of kerazoo, with `kerazoo.optimizers.adamw.BertAdamW` and with
           `keras.optimizers.AdamW`, on each backend.
Same work: random weights, the same ids and padding mask, float32, no decay of biases and norms,
           gradients clipped by their norm over all weights. "first" is `fit` of one step with a
           new model and optimizer: tracing, slots, and the step; "step" is one of many.
           Keras's optimizer is unguarded; so is kerazoo's but where the table says "guarded".
"""

import math
import statistics
from typing import Any

import measure

SIDES = ("kerazoo", "kerazoo, guarded", "Keras")


def make_side(side: str, size: str, batch: int, length: int) -> Any:
    """Return what answers "first" and "step" in seconds."""
    import time

    import keras
    import numpy as np
    import tensorflow as tf

    import kerazoo
    from kerazoo.optimizers.adamw import create_optimizer

    def new_task() -> Any:
        keras.utils.set_random_seed(3)
        task = kerazoo.TextClassifier(kerazoo.BertBackbone.from_size(size), num_classes=5)
        if side == "Keras":
            optimizer = keras.optimizers.AdamW(5e-5, weight_decay=0.01, global_clipnorm=1.0)
            optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
        else:
            guard = "stop" if "guarded" in side else None
            optimizer = create_optimizer(5e-5, clip_norm=1.0, on_non_finite=guard)
        task.compile(optimizer=optimizer)
        return task

    generator = np.random.default_rng(7)
    ids = generator.integers(1000, 30_000, (batch, length), dtype="int32")
    inputs = {
        "token_ids": ids,
        "segment_ids": np.zeros_like(ids),
        "padding_mask": np.ones_like(ids),
    }
    once = tf.data.Dataset.from_tensors((inputs, np.arange(batch) % 5))
    task = new_task()

    def answer(do: str, steps: int = 1) -> float:
        trained = new_task() if do == "first" else task
        started = time.perf_counter()
        trained.fit(once.repeat(steps), verbose=0)
        return (time.perf_counter() - started) / steps

    return answer


def compare(backend: str, size: str, sides: Any, given: Any) -> dict[str, Any]:
    """Measure one size on one backend; return the table's line."""
    role = {"size": size, "batch": given.batch, "length": given.length}
    started = [sides.start(name, backend, side=name, **role) for name in SIDES]
    for side in started:
        side.wait()
    row: dict[str, Any] = {"model": f"BERT-{size}", "backend": backend}
    for do in ("first", "step"):
        steps = 1
        if do == "step":
            for side in started:
                side.ask(do=do, steps=2)  # compiles
            steps = max(1, math.ceil(given.seconds / min(side.ask(do=do) for side in started)))
        times = measure.take_turns(started, given.rounds, do=do, steps=steps)
        row[f"{do}, s"] = statistics.median(times["kerazoo"])
        for name in SIDES[1:]:
            row[f"{do}, {name} ×"] = measure.ratio(times[name], times["kerazoo"])
    measure.say(row)
    return row


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__, rounds=5)
    parser.add_argument("--sizes", nargs="+", default=["mini"], help="named BERT sizes")
    parser.add_argument("--backends", nargs="+", default=["tensorflow", "jax", "torch"])
    parser.add_argument("--batch", type=int, default=8, help="rows of a step")
    parser.add_argument("--length", type=int, default=64, help="positions")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one turn, at least")
    given = parser.parse_args()
    if given.quick:
        given.sizes, given.backends, given.rounds, given.seconds = ["tiny"], ["tensorflow"], 2, 0.1
        given.batch, given.length = 3, 7
    before = measure.machine()
    rows = []
    for size in given.sizes:
        for backend in given.backends:
            with measure.Sides(__file__, given.threads) as sides:
                rows.append(compare(backend, size, sides, given))
    measure.publish(
        f"{given.batch} rows of {given.length} tokens, {given.threads} threads. × = how many times "
        "as long as with kerazoo's optimizer, unguarded.",
        rows,
        before,
        given.json,
    )


if __name__ == "__main__":
    measure.run(main, make_side)
