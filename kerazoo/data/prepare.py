"""A corpus as shards of rows, in parallel and resumable."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from kerazoo.checks import check_one_of, check_positive
from kerazoo.conversion.locked_output import locked_output
from kerazoo.data.document_blocks import ShardSource, document_blocks, shard_sources
from kerazoo.data.manifest import Manifest
from kerazoo.data.next_sentence import check_documents
from kerazoo.data.objectives import BERT
from kerazoo.data.plain_text import read_documents
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.prepare_worker import write_in_processes
from kerazoo.data.row_records import check_tokenizer
from kerazoo.data.shard import Shard
from kerazoo.data.shard_writer import ShardWriter, finished_shard
from kerazoo.data.source_lines import STRICT
from kerazoo.data.unfinished_folder import UnfinishedFolder

LOCAL = "local"
BEAM = "beam"
RUNNERS = (LOCAL, BEAM)

OnShard = Callable[[Shard, bool], None]
"""Is told of each finished shard, and whether it was kept of an earlier run."""


def prepare(
    corpus: Sequence[str],
    tokenizer: Any,
    output: str | Path,
    settings: PrepareSettings | None = None,
    *,
    workers: int | None = 1,
    errors: str = STRICT,
    document_per_file: bool = False,
    runner: str = LOCAL,
    pipeline_options: Sequence[str] = (),
    on_shard: OnShard = lambda shard, is_kept: None,
) -> Manifest:
    """Turn a corpus into a folder of shards.

    The shards depend on the texts, the tokenizer and the settings alone: neither the number of
    workers nor the runner changes a byte. A run that was interrupted goes on where it was when it
    is started again; shards that are finished are kept.

    Args:
        corpus: files, folders or ``-``; see `read_documents`.
        tokenizer: a kerazoo tokenizer.
        output: the folder to create, or one of an unfinished run.
        settings: what rows to make; None are the defaults.
        workers: int, processes that tokenise; 1 is this process, None one process a core if the
            corpus is so large that starting them pays.
        errors: "strict", or "replace": bytes that are not UTF-8 become U+FFFD.
        document_per_file: bool, pass over blank lines: a file of plain text is one document.
        runner: "local", or "beam": Apache Beam, which ignores `workers`.
        pipeline_options: Beam's options, such as "--runner=FlinkRunner".
        on_shard: called for each shard when it is finished.

    Returns:
        What the folder holds.

    Raises:
        BlockingIOError: if another process writes to the output.
        FileExistsError: if the output holds something else.
        FileNotFoundError: if there is no such corpus.
        ValueError: if a text cannot be read, the tokenizer or a setting does not fit, the corpus
            has no text or a single document, or the output is an unfinished run of another corpus
            or setting.
    """
    settings = settings or PrepareSettings()
    settings.check_masks()
    if workers is not None:
        check_positive("workers", workers)
    check_one_of("runner", runner, RUNNERS)
    check_tokenizer(tokenizer, settings)
    with locked_output(output):
        sources = read_sources(corpus, settings, errors, document_per_file)
        first = list(islice(sources, workers or _enough_shards(settings)))
        if settings.objective == BERT:
            check_documents(len(first[0].blocks[0]))
        folder = UnfinishedFolder(output, tokenizer, settings)
        try:
            if runner == BEAM:
                from kerazoo.data.prepare_beam import write_with_beam

                reading = (list(corpus), settings, errors, document_per_file)
                shards = list(write_with_beam(reading, str(output), pipeline_options))
                for shard in shards:
                    on_shard(shard, False)
            else:
                if workers is None:
                    workers = _usable_cores() if len(first) == _enough_shards(settings) else 1
                every = chain(first, sources)
                shards = list(_write(every, folder, settings, min(workers, len(first)), on_shard))
            return folder.finish(shards)
        except BaseException:
            if not folder.is_resumed:
                folder.remove_if_nothing_is_finished()
            raise


def _enough_shards(settings: PrepareSettings) -> int:
    """Return for how many shards it pays to start processes, each of which takes seconds."""
    return 2 if settings.segmenter in ("jieba", "ltp") else 16


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read_sources(
    corpus: Sequence[str], settings: PrepareSettings, errors: str, document_per_file: bool
) -> Iterator[ShardSource]:
    """Yield what each shard is made of while the corpus is read; see `prepare`."""
    documents = read_documents(corpus, errors, document_per_file)
    blocks = document_blocks(documents, settings.documents_per_block)
    return shard_sources(blocks, settings.blocks_per_shard)


def _write(
    sources: Iterable[ShardSource],
    folder: UnfinishedFolder,
    settings: PrepareSettings,
    workers: int,
    on_shard: OnShard,
) -> Iterator[Shard]:
    """Yield all shards, those of an earlier run as they are."""
    kept: list[Shard] = []

    def missing() -> Iterator[ShardSource]:
        for source in sources:
            shard = finished_shard(folder.path, source) if folder.is_resumed else None
            if shard is None:
                yield source
            else:
                kept.append(shard)
                on_shard(shard, True)

    if workers > 1:
        written = write_in_processes(missing(), str(folder.path), settings, workers)
    else:
        writer = ShardWriter(folder.path, settings)
        written = map(writer.write, missing())
    for shard in written:
        on_shard(shard, False)
        yield shard
    yield from kept
