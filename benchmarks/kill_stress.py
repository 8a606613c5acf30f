"""Kill training at random moments, go on with it, and compare the weights bit for bit.

Command:   .venv/bin/python benchmarks/kill_stress.py [--trials 200] [--small] [--json FILE]
           (KERAS_BACKEND=jax for JAX)
Time:      3 to 10 s a kill on TensorFlow and 15 to 25 on JAX, 2 on both with --small

Compared:  a `finetune` run of a tiny BERT, dropout and shuffling on, that nobody interrupts, with
           runs that are killed with SIGKILL and started again with `resume=True` until they are
           done. Every restart has to succeed, and the final weights and the results of every epoch
           have to be equal, bit for bit. --small trains a dense layer by `resumable_fit`, the part
           of `finetune` and `pretrain` that goes on with runs; the tests do that.
Moments:   every other kill comes at a moment drawn from the whole length of a run, the others while
           a checkpoint is being written. Processes are forked from one that has imported
           everything and computed nothing.
"""

import argparse
import functools
import json
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = "the a film was is good bad very not play great dull".split()
VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", *WORDS]
SETTINGS = {"epochs": 3, "batch_size": 5, "learning_rate": 0.01, "seed": 3, "checkpoint_every": 2}
TIMES = ("seconds", "waiting_share")
POLL_SECONDS = 2e-4
HANGS_AFTER_SECONDS = 300


def make_inputs(folder: Path) -> None:
    """Write a preset and rows to train and to measure on."""
    import keras

    import kerazoo

    keras.utils.set_random_seed(7)
    backbone = kerazoo.BertBackbone(
        vocabulary_size=len(VOCABULARY),
        num_layers=1,
        num_heads=4,
        hidden_dim=20,
        intermediate_dim=24,
        max_sequence_length=11,
        dropout=0.2,
    )
    tokenizer = kerazoo.WordPieceTokenizer(vocabulary=VOCABULARY)
    preprocessor = kerazoo.TextClassifierPreprocessor(tokenizer, sequence_length=9)
    task = kerazoo.TextClassifier(backbone, labels=["bad", "good"], preprocessor=preprocessor)
    task.save_to_preset(folder / "preset")
    draw = random.Random(5)
    for name, rows in (("train.tsv", 17), ("validation.tsv", 6)):
        texts = [" ".join(draw.choices(WORDS, k=draw.randint(2, 9))) for _ in range(rows)]
        labels = ["bad", "good", *draw.choices(["bad", "good"], k=rows - 2)]
        lines = [f"{text}\t{label}" for text, label in zip(texts, labels, strict=True)]
        (folder / name).write_text("\n".join(["text\tlabel", *lines]) + "\n")


def train_small(folder: Path, output: Path, steps: int, eager: bool) -> None:
    """Begin a run of a dense layer with dropout, or go on with it."""
    import keras
    import numpy as np

    from kerazoo.data.row_order import RowOrder
    from kerazoo.optimizers.adamw import create_optimizer
    from kerazoo.training.checkpoint_writer import RunPlan
    from kerazoo.training.fit_progress import FitProgress
    from kerazoo.training.progress import SILENT
    from kerazoo.training.resumable_fit import resumable_fit
    from kerazoo.training.unfinished_run import UnfinishedRun

    rows = np.random.default_rng(5).normal(size=(17, 3)).astype("float32")
    targets = rows[:, :2] ** 2
    keras.utils.set_random_seed(7)
    layers = [keras.Input((3,)), keras.layers.Dropout(0.2), keras.layers.Dense(2)]
    model = keras.Sequential(layers)
    optimizer = create_optimizer(0.01, on_non_finite="stop")
    model.compile(optimizer, "mse", metrics=["mae"], run_eagerly=eager)
    run = UnfinishedRun(output, resume=True)
    run.begin(SETTINGS)
    if run.is_complete:
        return

    def fit(part: Any, **options: Any) -> None:
        batches = RowOrder(3, part.first_step).batches((rows, targets), 5)
        model.fit(batches, validation_data=(rows, targets), shuffle=False, **options)

    epochs = resumable_fit(
        *(model, fit, run, RunPlan(steps, 4, checkpoint_every=1, keep_checkpoints=2)),
        lambda step, said: FitProgress(SILENT, 4, steps // 4, step, said),
        rows_of_batch=str,
    )
    np.savez(output / "weights.npz", *model.get_weights())
    (output / "metrics.json").write_text(json.dumps({"epochs": epochs}))
    run.finish()


def train(folder: Path, output: Path) -> None:
    """Begin a run of BERT, or go on with it."""
    from kerazoo.training.config import FinetuneConfig
    from kerazoo.training.finetune import finetune

    files = [str(folder / name) for name in ("preset", "train.tsv", "validation.tsv")]
    finetune("text-classification", *files, output, FinetuneConfig(**SETTINGS), resume=True)


def results(output: Path) -> dict[str, Any]:
    """Return the weights that a run has written, as bytes, and what its epochs gave."""
    import h5py
    import numpy as np

    found: dict[str, Any] = {}

    def keep(name: str, node: Any) -> None:
        if isinstance(node, h5py.Dataset):
            found[f"{file}/{name}"] = node[()].tobytes()

    for file in [path.name for path in output.glob("*.weights.h5")]:
        with h5py.File(output / file) as content:
            content.visititems(keep)
    if (output / "weights.npz").exists():
        with np.load(output / "weights.npz") as content:
            found.update({name: value.tobytes() for name, value in content.items()})
    epochs = json.loads((output / "metrics.json").read_text())["epochs"]
    lines = (output / "history.jsonl").read_text().splitlines()
    for name, entries in (("epochs", epochs), ("history", map(json.loads, lines))):
        found[name] = [{k: v for k, v in e.items() if k not in TIMES} for e in entries]
    return found


class Child:
    """A forked process that calls a function.

    Args:
        log: a file for what it prints.
        function: what to call.
        *arguments: with what.
    """

    def __init__(self, log: Path, function: Callable[..., None], *arguments: Any) -> None:
        self._log = log
        self._pid = os.fork()
        if self._pid:
            return
        code = 1
        try:
            output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(output, 1)
            os.dup2(output, 2)
            function(*arguments)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)

    def is_done(self) -> bool:
        """Return whether it has ended; stop everything if it has failed."""
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid and status:
            sys.exit(f"A process has failed:\n{self._log.read_text()[-3000:]}")
        return bool(pid)

    def wait(self) -> None:
        """Wait until it has ended."""
        began = time.monotonic()
        while not self.is_done():
            if time.monotonic() - began > HANGS_AFTER_SECONDS:
                self.kill()
                sys.exit(f"A process hangs:\n{self._log.read_text()[-3000:]}")
            time.sleep(0.01)

    def kill(self) -> None:
        """Kill it."""
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def kill_at(child: Child, seconds: float, checkpoints: Path | None) -> bool:
    """Kill a process at a moment, and return whether it was still there.

    Args:
        child: the process.
        seconds: how long it may run at least.
        checkpoints: a folder; kill when a checkpoint is written there. None does not wait for it.
    """
    moment = time.monotonic() + seconds
    while not child.is_done():
        if time.monotonic() >= moment and (checkpoints is None or any(checkpoints.glob("*.part"))):
            child.kill()
            return True
        time.sleep(POLL_SECONDS)
    return False


def stress(
    trials: int, draw: random.Random, folder: Path, train: Callable[[Path, Path], None]
) -> dict[str, Any]:
    """Kill so many times, and return what came of it."""
    log = folder / "log.txt"
    began = time.monotonic()
    Child(log, train, folder, folder / "whole").wait()
    length = time.monotonic() - began
    expected = results(folder / "whole")
    said = {"trials": trials, "runs": 0, "killed while writing": 0, "seconds of a run": length}
    kills = 0
    while kills < trials:
        said["runs"] += 1
        output = folder / f"run{said['runs']}"
        checkpoints = output / ".unfinished"
        while True:
            child = Child(log, train, folder, output)
            if kills == trials:
                child.wait()
                break
            writing = kills % 2 == 1
            seconds = draw.uniform(0, length) * (0.8 if writing else 1)
            if not kill_at(child, seconds, checkpoints if writing else None):
                break
            kills += 1
            said["killed while writing"] += any(checkpoints.glob("*.part"))
        found = results(output)
        different = [name for name in expected if found.get(name) != expected[name]]
        if different or set(found) != set(expected):
            sys.exit(f"After kill {kills} the results differ: {', '.join(different)}")
    return said


def main() -> None:
    """Parse the options, kill, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=200, help="how often to kill")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--small", action="store_true", help="a dense layer in place of BERT")
    parser.add_argument("--steps", type=int, default=40, help="of a run of --small, in fours")
    parser.add_argument("--eager", action="store_true", help="--small compiles no graph")
    parser.add_argument("--quick", action="store_true", help="a smoke: 6 kills")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    given = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import keras

    import kerazoo.training.finetune
    import kerazoo.training.fit_progress
    import kerazoo.training.resumable_fit  # noqa: F401
    from kerazoo import BertBackbone, TextClassifier, WordPieceTokenizer  # noqa: F401

    with tempfile.TemporaryDirectory() as name:
        folder, draw = Path(name), random.Random(given.seed)
        trials = 6 if given.quick else given.trials
        if not given.small:
            Child(folder / "log.txt", make_inputs, folder).wait()
        small = functools.partial(train_small, steps=given.steps, eager=given.eager)
        said = stress(trials, draw, folder, small if given.small else train)
    said = {"backend": keras.config.backend(), **said}
    print(", ".join(f"{name}: {value}" for name, value in said.items()))
    print("Every restart succeeded, and all weights and results are equal bit for bit.")
    if given.json is not None:
        given.json.write_text(json.dumps(said, indent=2) + "\n")


if __name__ == "__main__":
    main()
