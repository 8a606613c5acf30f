"""Train step of a token classifier: with a CRF against the softmax head.

Command:   .venv/bin/python benchmarks/crf_speed.py [--backends tensorflow jax] [--quick]
Time:      3 minutes; a minute with --quick

Compared:  one step of `fit` of `TokenClassifier` on BERT-mini with `crf=True` and without, on the
           same Keras backend. The CRF's loss needs the sum over all sequences of tags, position by
           position, so it takes longer; "×" is by how much.
Same work: random weights, the same ids, batch, length and tags (BIO of four types), a tag at every
           real token; rows from half full to full; AdamW; dropout 0.1; no metrics, since a CRF
           measures none in training; compiled as Keras does by itself; the same number of threads.
"""

import math
import statistics
import time
from typing import Any

import measure

TYPES = ("PER", "LOC", "ORG", "MISC")


# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(crf: bool, size: str, batch: int, length: int) -> Any:
    """Build a task and return what answers `steps=…` with the seconds of a step."""
    import keras
    import numpy as np
    import tensorflow as tf

    import kerazoo
    from kerazoo.backbones.sizes import named_size

    keras.utils.set_random_seed(7)
    backbone = kerazoo.BertBackbone(**named_size("bert", size))
    labels = ["O", *(f"{prefix}-{kind}" for kind in TYPES for prefix in "BI")]
    task = kerazoo.TokenClassifier(backbone, labels=labels, crf=crf)
    task.compile(keras.optimizers.AdamW(1e-5, weight_decay=0.01), weighted_metrics=[])
    generator = np.random.default_rng(7)
    lengths = np.linspace(length // 2, length, batch).astype("int32")
    mask = (np.arange(length) < lengths[:, None]).astype("int32")
    ids = generator.integers(1000, 30_000, (batch, length), dtype="int32")
    inputs = {"token_ids": ids * mask, "segment_ids": 0 * mask, "padding_mask": mask}
    tags = generator.integers(0, len(labels), (batch, length), dtype="int32")
    once = tf.data.Dataset.from_tensors((inputs, tags, mask.astype("float32")))

    def answer(steps: int) -> float:
        data = once.repeat(steps)
        started = time.perf_counter()
        task.fit(data, epochs=1, verbose=0)
        return (time.perf_counter() - started) / steps

    answer(2)  # compiles
    return answer


# ---- the benchmark ------------------------------------------------------------------------------


def compare(backend: str, given: Any) -> dict[str, Any]:
    """Measure one backend and return the table's line."""
    role = {"size": given.size, "batch": given.batch, "length": given.length}
    with measure.Sides(__file__, given.threads) as sides:
        started = [
            sides.start(name, backend, crf=crf, **role)
            for name, crf in (("softmax", False), ("CRF", True))
        ]
        for side in started:
            side.wait()
        slowest = max(side.ask(steps=2) for side in started)
        steps = max(2, math.ceil(given.seconds / slowest))
        times = measure.take_turns(started, given.rounds, steps=steps)
    softmax, crf = times["softmax"], times["CRF"]
    row = {
        "model": f"BERT-{given.size}",
        "backend": backend,
        "softmax ms": statistics.median(softmax) * 1e3,
        "CRF ms": statistics.median(crf) * 1e3,
        "× softmax": measure.ratio(crf, softmax),
    }
    measure.say(row)
    return row


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    parser.add_argument("--size", default="mini", help="a named BERT size")
    parser.add_argument("--backends", nargs="+", default=["tensorflow", "jax"], help="of Keras")
    parser.add_argument("--batch", type=int, default=8, help="texts a step")
    parser.add_argument("--length", type=int, default=128, help="positions of a text")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one turn, at least")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.seconds = 3, 0.5
    before = measure.machine()
    rows = [compare(backend, given) for backend in given.backends]
    measure.publish(
        f"Batch {given.batch}, {given.length} positions, {given.threads} threads, {given.rounds} "
        "rounds. × = how many times as long the CRF's step takes.",
        rows,
        before,
        given.json,
    )


if __name__ == "__main__":
    measure.run(main, make_side)
