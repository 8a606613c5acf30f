"""Forward pass and train step of BERT: kerazoo, KerasHub, transformers.

Command:   .venv/bin/python benchmarks/encoder_speed.py [--sizes mini base] [--quick]
Time:      a few minutes with --quick; the full run is for a machine that does nothing else

Compared:  kerazoo's `BertBackbone` with KerasHub's on the same Keras backend, and with
           transformers' `BertModel` on PyTorch; the train step is that of each library's
           text classifier on it.
Same work: all sides read one random checkpoint, written by transformers, and their pooled outputs
           are compared first. Same ids, batch, length and padding mask; float32; the tanh GELU,
           since KerasHub has no other; dropout 0.1 on states, attention and head; cross-entropy;
           AdamW without decay of biases and norms, each library's own, which for transformers is
           the fused one, the default of its trainer; same number of threads. Keras sides train
           by `fit` and run by `predict_on_batch`, compiled as Keras does by itself unless
           --jit-compile says otherwise; transformers runs eagerly in inference mode.
"""

import math
import statistics
import tempfile
from pathlib import Path
from typing import Any

import measure

LEARNING_RATE, WEIGHT_DECAY = 1e-5, 0.01
CLASSES = 2


# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(library: str, folder: str, size: str, batch: int, length: int, jit: str) -> Any:
    """Load one library's model and return what answers `do="check" | "forward" | "train"`."""
    import numpy as np

    generator = np.random.default_rng(7)
    token_ids = generator.integers(1000, 30_000, (batch, length), dtype="int32")
    # Rows from half full to full, so that the mask has something to do.
    lengths = np.linspace(length // 2, length, batch).astype("int32")
    padding_mask = (np.arange(length) < lengths[:, None]).astype("int32")
    inputs = {
        "token_ids": token_ids * padding_mask,
        "segment_ids": np.zeros_like(token_ids),
        "padding_mask": padding_mask,
    }
    labels = generator.integers(0, CLASSES, batch, dtype="int32")
    if library == "transformers":
        return _answers(*_transformers(folder, size, inputs, labels))
    return _answers(*_keras(library, folder, inputs, labels, jit))


def _answers(forward: Any, train: Any) -> Any:
    import time

    before_training = forward(1)[:, :8].tolist()

    def answer(do: str, steps: int = 1) -> Any:
        if do == "check":
            return before_training
        started = time.perf_counter()
        (forward if do == "forward" else train)(steps)
        return (time.perf_counter() - started) / steps

    return answer


def _keras(library: str, folder: str, inputs: dict, labels: Any, jit: str) -> tuple:
    import keras
    import keras_nlp
    import numpy as np
    import tensorflow as tf

    import kerazoo
    from kerazoo.optimizers.adamw import BertAdamW

    if library == "kerazoo":
        backbone = kerazoo.BertBackbone.from_preset(folder)
        task = kerazoo.TextClassifier(backbone, num_classes=CLASSES, dropout=0.1)
        optimizer = BertAdamW(LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    else:
        backbone = keras_nlp.models.BertBackbone.from_preset(folder)
        task = keras_nlp.models.BertTextClassifier(backbone, num_classes=CLASSES, dropout=0.1)
        optimizer = keras.optimizers.AdamW(LEARNING_RATE, weight_decay=WEIGHT_DECAY)
        optimizer.exclude_from_weight_decay(var_names=["bias", "gamma", "beta"])
    jit_compile = {"auto": "auto", "true": True, "false": False}[jit]
    backbone.compile(jit_compile=jit_compile)
    task.compile(
        optimizer=optimizer,
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[],
        jit_compile=jit_compile,
    )
    once = tf.data.Dataset.from_tensors((inputs, labels))

    def forward(steps: int) -> Any:
        for _ in range(steps):
            outputs = backbone.predict_on_batch(inputs)
        return np.asarray(outputs["pooled_output"])

    def train(steps: int) -> None:
        task.fit(once.repeat(steps), epochs=1, verbose=0)

    return forward, train


def _transformers(folder: str, size: str, inputs: dict, labels: Any) -> tuple:
    import os

    import torch
    from transformers import BertForSequenceClassification

    if not os.listdir(folder):
        _write_checkpoint(folder, size)
    task = BertForSequenceClassification.from_pretrained(folder)
    # Biases and the weights of layer norms are the vectors among the weights.
    decayed, others = (
        [weight for weight in task.parameters() if (weight.dim() > 1) == is_decayed]
        for is_decayed in (True, False)
    )
    groups = [{"params": decayed}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)
    batch = {
        "input_ids": torch.tensor(inputs["token_ids"], dtype=torch.long),
        "token_type_ids": torch.tensor(inputs["segment_ids"], dtype=torch.long),
        "attention_mask": torch.tensor(inputs["padding_mask"], dtype=torch.long),
    }
    targets = torch.tensor(labels, dtype=torch.long)

    def forward(steps: int) -> Any:
        task.eval()
        with torch.inference_mode():
            for _ in range(steps):
                outputs = task.bert(**batch)
        return outputs.pooler_output.numpy()

    def train(steps: int) -> None:
        task.train()
        for _ in range(steps):
            optimizer.zero_grad()
            task(**batch, labels=targets).loss.backward()
            optimizer.step()

    return forward, train


def _write_checkpoint(folder: str, size: str) -> None:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    from kerazoo.backbones.sizes import named_size

    numbers = named_size("bert", size)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=numbers["vocabulary_size"],
        num_hidden_layers=numbers["num_layers"],
        num_attention_heads=numbers["num_heads"],
        hidden_size=numbers["hidden_dim"],
        intermediate_size=numbers["intermediate_dim"],
        hidden_act="gelu_pytorch_tanh",
        num_labels=CLASSES,
    )
    BertForSequenceClassification(config).save_pretrained(folder)


# ---- the benchmark ------------------------------------------------------------------------------


def compare(size: str, backend: str, baseline: measure.Side, sides: Any, given: Any) -> list[dict]:
    """Measure one size on one backend and return the table's lines."""
    started = [
        sides.start(library, backend, **role(library, size, given))
        for library in ("kerazoo", "KerasHub")
    ]
    for side in started:
        side.wait()
    everyone = [*started, baseline]
    measure.check_equal({side.name: side.ask(do="check") for side in everyone}, 1e-4)
    rows = []
    for do in given.steps:
        for side in everyone:
            side.ask(do=do, steps=2)  # compiles
        seconds = [side.ask(do=do) for side in everyone]
        steps = max(1, math.ceil(given.seconds / min(seconds)))
        times = measure.take_turns(everyone, given.rounds, do=do, steps=steps)
        ours, hub, transformers = times.values()
        rows.append(
            {
                "model": f"BERT-{size}",
                "step": do,
                "backend": backend,
                "kerazoo ms": statistics.median(ours) * 1e3,
                "KerasHub ms": statistics.median(hub) * 1e3,
                "transformers ms": statistics.median(transformers) * 1e3,
                "× KerasHub": measure.ratio(hub, ours),
                "× transformers": measure.ratio(transformers, ours),
            }
        )
        measure.say(rows[-1])
    for side in started:
        side.close()
    return rows


def role(library: str, size: str, given: Any) -> dict[str, Any]:
    """Return the arguments of `make_side`."""
    return {
        "library": library,
        "folder": str(given.folder / size),
        "size": size,
        "batch": given.batch,
        "length": given.length,
        "jit": given.jit_compile,
    }


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    parser.add_argument("--sizes", nargs="+", default=["mini", "base"], help="named BERT sizes")
    parser.add_argument("--backends", nargs="+", default=["tensorflow", "jax"], help="of Keras")
    parser.add_argument("--steps", nargs="+", default=["forward", "train"], help="what to measure")
    parser.add_argument("--batch", type=int, default=8, help="texts a step")
    parser.add_argument("--length", type=int, default=128, help="positions of a text")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of one turn, at least")
    parser.add_argument("--jit-compile", choices=["auto", "true", "false"], default="auto")
    given = parser.parse_args()
    if given.quick:
        given.sizes, given.rounds, given.seconds = ["tiny"], 2, 0.1
        given.batch, given.length = 2, 32
    before = measure.machine()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        given.folder = Path(folder)
        for size in given.sizes:
            (given.folder / size).mkdir()
            with measure.Sides(__file__, given.threads) as sides:
                baseline = sides.start("transformers", **role("transformers", size, given))
                baseline.wait()
                for backend in given.backends:
                    rows += compare(size, backend, baseline, sides, given)
    measure.publish(
        f"Batch {given.batch}, {given.length} positions, {given.threads} threads. "
        "× = how many times as long the other takes (above 1: kerazoo is faster).",
        rows,
        before,
        given.json,
    )


if __name__ == "__main__":
    measure.run(main, make_side)
