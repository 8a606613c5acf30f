"""What every benchmark shares: sides that take turns, each in a process of its own, and the table.

A *side* is one library on one backend. Keras takes one backend a process, and a library's threads
and memory must not disturb the other's, so each side is a child process that loads, warms up and
then waits. In every round each side in its turn runs for a moment while the others sleep; what is
compared is the median over the rounds, so a slow minute of the machine hits all sides alike.
"""

import argparse
import importlib.metadata
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

_AS_SIDE = "--as-side"
_SETTLE = 0.05  # seconds between two turns, for the threads of the side before to fall asleep
_PACKAGES = (
    "keras keras-hub tensorflow tensorflow-text jax torch transformers tokenizers onnxruntime numpy"
).split()


class Side:
    """A child process that runs `make_side(**role)` of a benchmark file and answers requests.

    Args:
        script: the benchmark file.
        name: what the table calls it.
        role: arguments of the file's `make_side`, fit for JSON.
        backend: KERAS_BACKEND of the process, if it uses Keras.
        threads: CPU threads it may use.
    """

    def __init__(
        self, script: str, name: str, role: dict[str, Any], backend: str | None, threads: int
    ) -> None:
        self.name = name
        environment = {
            **os.environ,
            "PYTHONWARNINGS": "ignore",
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "TOKENIZERS_PARALLELISM": "false",
            "TRANSFORMERS_VERBOSITY": "error",
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": str(threads),
            "TF_NUM_INTRAOP_THREADS": str(threads),
            **({"KERAS_BACKEND": backend} if backend else {}),
        }
        # Libraries talk a lot; what they say is shown only when the side fails.
        self._log = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            [sys.executable, script, _AS_SIDE, json.dumps({"threads": threads, "role": role})],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=environment,
        )

    def wait(self) -> None:
        """Wait until it has loaded."""
        self._answer()

    def ask(self, **request: Any) -> Any:
        """Send a request and return the answer."""
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Any:
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._log.seek(0)
            tail = "".join(self._log.readlines()[-30:])
            sys.exit(f"{tail}\nThe side {self.name!r} ended with exit code {code}.")
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()
        self._log.close()


class Sides(ExitStack):
    """Starts sides and ends them with the `with` block.

    Args:
        script: the benchmark file.
        threads: CPU threads of each side.
    """

    def __init__(self, script: str, threads: int) -> None:
        super().__init__()
        self._script, self._threads = script, threads

    def start(self, name: str, backend: str | None = None, **role: Any) -> Side:
        """Start a side; it loads while others do, so `wait` for it before measuring."""
        side = Side(self._script, name, role, backend, self._threads)
        self.callback(side.close)
        return side


def megabytes(name: str) -> float:
    """Return the memory of this process: "VmRSS" now, "VmHWM" the largest so far."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def run(main: Callable[[], None], make_side: Callable[..., Callable[..., Any]]) -> None:
    """Be the benchmark or, in a child process, one of its sides.

    Args:
        main: the benchmark.
        make_side: called in the child with the side's role; returns what answers a request.
    """
    if _AS_SIDE not in sys.argv:
        main()
        return
    start = json.loads(sys.argv[sys.argv.index(_AS_SIDE) + 1])
    if hasattr(os, "sched_setaffinity"):
        # Before any library counts the cores: some have no other way to limit their threads.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: start["threads"]])
    # Whatever a library prints goes to standard error; standard output is for answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    answer = make_side(**start["role"])
    print(json.dumps("ready"), file=answers)
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), file=answers)
    # Without waiting for what the libraries do at exit.
    os._exit(0)


def take_turns(sides: Sequence[Side], rounds: int, **request: Any) -> dict[str, list[Any]]:
    """Ask each side once a round and return all answers by the side's name.

    Args:
        sides: who takes part; each round starts with another one.
        rounds: number of rounds.
        **request: what each side is asked.
    """
    answers: dict[str, list[Any]] = {side.name: [] for side in sides}
    for number in range(rounds):
        first = number % len(sides)
        for side in (*sides[first:], *sides[:first]):
            time.sleep(_SETTLE)
            answers[side.name].append(side.ask(**request))
    return answers


def ratio(others: Sequence[float], ours: Sequence[float]) -> float:
    """Return how many times as long the other takes: the median over rounds of the quotient."""
    return statistics.median(a / b for a, b in zip(others, ours, strict=True))


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the value that `percent` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def check_equal(outputs: dict[str, list[list[float]]], tolerance: float) -> None:
    """Stop unless all sides give the same numbers as the first.

    Args:
        outputs: rows of numbers by the side's name.
        tolerance: the largest difference that rounding explains.
    """
    (first_name, first), *others = outputs.items()
    for name, rows in others:
        gap = max(
            abs(a - b)
            for row, other in zip(first, rows, strict=True)
            for a, b in zip(row, other, strict=True)
        )
        if not gap <= tolerance:
            sys.exit(f"{first_name} and {name} differ by {gap:.1e}: that is not the same work.")


def options(description: str, **defaults: Any) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks have.

    Args:
        description: the benchmark's docstring.
        **defaults: default values of options.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7, help="turns of each side")
    parser.add_argument("--threads", type=int, default=cores, help="CPU threads of each side")
    parser.add_argument("--quick", action="store_true", help="a smoke: small, few rounds, no claim")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    parser.set_defaults(**defaults)
    return parser


def add_texts_option(parser: argparse.ArgumentParser, vocabulary: str = "file") -> None:
    """Add `--texts NAME VOCABULARY TEXTS`; `vocabulary` says what the second may be."""
    parser.add_argument(
        "--texts",
        nargs=3,
        action="append",
        required=True,
        metavar=("NAME", "VOCABULARY", "TEXTS"),
        help=f"a name, a vocabulary {vocabulary}, and a text file or a folder of *.txt; may be "
        "repeated",
    )


def data_package(name: str) -> Path:
    """Return the folder of an installed package that carries data, without importing it."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        sys.exit(f"The data package {name} is not installed; `make bench` installs it.")
    return Path(spec.submodule_search_locations[0])


def machine() -> dict[str, Any]:
    """Return what a number depends on: cores, threads in use by others, versions."""
    versions = {}
    for package in _PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    flags = Path("/proc/cpuinfo")
    flags = flags.read_text(encoding="utf-8").split() if flags.exists() else []
    vectors = [name for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")) if flag in flags]
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cores": os.cpu_count(),
        "processor": ", ".join([platform.machine(), *vectors[:1]]),
        "load": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "versions": versions,
    }


def say(row: dict[str, Any]) -> None:
    """Print one line as soon as it is known."""
    print("  ".join(f"{column} {_cell(value)}" for column, value in row.items()), flush=True)


def publish(
    title: str, rows: Sequence[dict[str, Any]], before: dict[str, Any], file: Path | None
) -> None:
    """Print the rows as a Markdown table, then the machine; write both as JSON if asked.

    Args:
        title: one line above the table.
        rows: one dict of column names and values for each line.
        before: `machine()`, taken before the first side started.
        file: the JSON file, or None.
    """
    columns = list(rows[0])
    cells = [columns, *([_cell(row[column]) for column in columns] for row in rows)]
    widths = [max(len(line[index]) for line in cells) for index in range(len(columns))]
    numbers = [all(not isinstance(row[column], str) for row in rows) for column in columns]
    rule = ["-" * (w - 1) + ":" if n else "-" * w for w, n in zip(widths, numbers, strict=True)]
    print(f"\n{title}\n")
    for line in (cells[0], rule, *cells[1:]):
        padded = (
            text.rjust(width) if number else text.ljust(width)
            for text, width, number in zip(line, widths, numbers, strict=True)
        )
        print("| " + " | ".join(padded) + " |")
    versions = ", ".join(f"{name} {version}" for name, version in before["versions"].items())
    print(
        f"\n{before['date']}, {before['cores']} cores ({before['processor']}), load before the "
        f"start {before['load']}, Python {before['python']}, {versions}\n"
    )
    if file is not None:
        content = {"title": title, "machine": before, "rows": list(rows)}
        file.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"
