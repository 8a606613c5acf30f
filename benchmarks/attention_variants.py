"""Ways to write attention with `keras.ops`, inside the whole encoder, on each backend.

Command:   .venv/bin/python benchmarks/attention_variants.py [--backends torch] [--quick]
Time:      a few minutes with --quick; the full run is for a machine that does nothing else

Compared:  kerazoo's `BertBackbone` as it is (two `ops.matmul` and a float32 softmax) with the same
           encoder on `ops.einsum` and on `ops.dot_product_attention`.
Same work: one random encoder of the named size, the same weights in all variants (their pooled
           outputs are compared first), the same ids and padding mask, float32, the same number of
           threads. The train step is SGD on the mean of the pooled output, without dropout, which
           `ops.dot_product_attention` does not have.
"""

import math
import statistics
from typing import Any

import measure

VARIANTS = ("matmul", "einsum", "dot_product_attention")


# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(variant: str, size: str, batch: int, length: int) -> Any:
    """Build the encoder with one attention and return what answers "check", "forward", "train"."""
    import time

    import keras
    import numpy as np
    import tensorflow as tf

    import kerazoo
    from kerazoo.layers import transformer_block

    transformer_block.SelfAttention = _attention(variant)
    backbone = kerazoo.BertBackbone.from_size(size, dropout=0.0, attention_dropout=0.0)
    generator = np.random.default_rng(7)
    backbone.set_weights(
        [generator.normal(0, 0.02, w.shape) + (w.name == "gamma") for w in backbone.weights]
    )
    lengths = np.linspace(length // 2, length, batch).astype("int32")
    padding_mask = (np.arange(length) < lengths[:, None]).astype("int32")
    token_ids = generator.integers(1000, 30_000, (batch, length), dtype="int32") * padding_mask
    inputs = {
        "token_ids": token_ids,
        "segment_ids": np.zeros_like(token_ids),
        "padding_mask": padding_mask,
    }
    # XLA on TensorFlow is off, as the task's `compile` has it.
    jit_compile = False if keras.config.backend() == "tensorflow" else "auto"
    backbone.compile(jit_compile=jit_compile)
    trained = keras.Model(backbone.input, backbone.output["pooled_output"])
    trained.compile(optimizer=keras.optimizers.SGD(1e-4), loss="mse", jit_compile=jit_compile)
    targets = np.zeros((batch, backbone.config.hidden_dim), dtype="float32")
    once = tf.data.Dataset.from_tensors((inputs, targets))
    outputs = backbone.predict_on_batch(inputs)["pooled_output"]

    def answer(do: str, steps: int = 1) -> Any:
        if do == "check":
            return np.asarray(outputs)[:, :8].tolist()
        started = time.perf_counter()
        if do == "train":
            trained.fit(once.repeat(steps), verbose=0)
        else:
            for _ in range(steps):
                backbone.predict_on_batch(inputs)
        return (time.perf_counter() - started) / steps

    return answer


def _attention(variant: str) -> type:
    """Return a class that takes the place of `SelfAttention`, with the same weights."""
    from keras import ops

    from kerazoo.layers.attention import SelfAttention

    class Variant(SelfAttention):
        def call(self, hidden_states: Any, padding_mask: Any = None, **_: Any) -> tuple:
            batch, length = ops.shape(hidden_states)[:2]
            flat = ops.reshape(hidden_states, (-1, self.hidden_dim))
            shape = (batch, length, self.num_heads, self.head_dim)
            query, key, value = (
                ops.reshape(layer(flat), shape) for layer in (self.query, self.key, self.value)
            )
            visible = ops.cast(padding_mask, "bool")[:, None, None, :]
            join = _einsum if variant == "einsum" else _dot_product_attention
            joined = join(query, key, value, visible)
            output = self.attention_output(ops.reshape(joined, (-1, self.hidden_dim)))
            return ops.reshape(output, (batch, length, self.hidden_dim)), None

    return SelfAttention if variant == "matmul" else Variant


def _einsum(query: Any, key: Any, value: Any, visible: Any) -> Any:
    import numpy as np
    from keras import ops

    query = query / math.sqrt(query.shape[-1])
    scores = ops.einsum("bqnh,bknh->bnqk", query, key)
    scores = ops.where(visible, scores, float(np.finfo("float32").min))
    return ops.einsum("bnqk,bknh->bqnh", ops.softmax(scores), value)


def _dot_product_attention(query: Any, key: Any, value: Any, visible: Any) -> Any:
    from keras import ops

    length = ops.shape(key)[1]
    # Every query sees the same keys; the op wants the full square.
    mask = ops.broadcast_to(visible, (ops.shape(key)[0], 1, length, length))
    return ops.dot_product_attention(query, key, value, mask=mask)


# ---- the benchmark ------------------------------------------------------------------------------


def compare(backend: str, batch: int, length: int, sides: Any, given: Any) -> list[dict]:
    """Measure one backend at one length; return the table's lines."""
    started = [
        sides.start(variant, backend, variant=variant, size=given.size, batch=batch, length=length)
        for variant in VARIANTS
    ]
    for side in started:
        side.wait()
    measure.check_equal({side.name: side.ask(do="check") for side in started}, 1e-4)
    rows = []
    for do in ("forward", "train"):
        for side in started:
            side.ask(do=do, steps=2)  # compiles
        fastest = min(side.ask(do=do) for side in started)
        steps = max(1, math.ceil(given.seconds / fastest))
        times = measure.take_turns(started, given.rounds, do=do, steps=steps)
        row = {"backend": backend, "positions": str(length), "batch": str(batch), "step": do}
        for variant in VARIANTS:
            row[f"{variant} ms"] = statistics.median(times[variant]) * 1e3
        for variant in VARIANTS[1:]:
            row[f"{variant} ×"] = measure.ratio(times[variant], times[VARIANTS[0]])
        rows.append(row)
        measure.say(row)
    for side in started:
        side.close()
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__, rounds=5)
    parser.add_argument("--size", default="base", help="named BERT size")
    parser.add_argument("--backends", nargs="+", default=["tensorflow", "jax", "torch"])
    parser.add_argument("--lengths", nargs="+", type=int, default=[128, 512], help="positions")
    parser.add_argument("--tokens", type=int, default=1024, help="batch times positions")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one turn, at least")
    given = parser.parse_args()
    if given.quick:
        given.size, given.backends, given.lengths, given.tokens = "tiny", ["torch"], [32], 96
        given.rounds, given.seconds = 2, 0.1
    before = measure.machine()
    rows = []
    for backend in given.backends:
        for length in given.lengths:
            with measure.Sides(__file__, given.threads) as sides:
                rows += compare(backend, given.tokens // length, length, sides, given)
    measure.publish(
        f"BERT-{given.size}, {given.threads} threads. × = how many times as long the variant takes "
        f"as {VARIANTS[0]}, which kerazoo uses (below 1: the variant is faster).",
        rows,
        before,
        given.json,
    )


if __name__ == "__main__":
    measure.run(main, make_side)
