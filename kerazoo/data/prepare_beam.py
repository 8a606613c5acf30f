"""Shards written by an Apache Beam pipeline, on any engine that Beam has."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kerazoo.data.document_blocks import ShardSource
from kerazoo.data.manifest import UNFINISHED_FOLDER
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.shard import Shard
from kerazoo.data.shard_writer import ShardWriter, finished_shard, read_shard, write_whole

_COUNT_FILE = "shards"

Reading = tuple[list[str], PrepareSettings, str, bool]
"""Arguments of `read_sources`."""


def write_with_beam(
    reading: Reading, folder: str, pipeline_options: Sequence[str]
) -> Iterator[Shard]:
    """Run the pipeline, and yield all shards.

    One worker reads the corpus, all others tokenise and write. Every worker must see the corpus and
    the output under the same names, and have kerazoo installed.

    Args:
        reading: the arguments of `read_sources`.
        folder: an `UnfinishedFolder`'s path.
        pipeline_options: Beam's options, such as "--runner=FlinkRunner".

    Raises:
        ModuleNotFoundError: if Beam is not installed.
    """
    try:
        import apache_beam as beam
        from apache_beam.options.pipeline_options import PipelineOptions
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "Apache Beam is not installed: pip install 'kerazoo[beam]'"
        ) from error

    class WriteShard(beam.DoFn):
        """Writes a shard, unless an earlier run has."""

        def setup(self) -> None:
            """Read the tokenizer once a worker."""
            self._writer = ShardWriter(folder, reading[1])

        def process(self, source: ShardSource) -> None:
            """Write a shard; what it holds is in its description."""
            if finished_shard(folder, source) is None:
                self._writer.write(source)

    with beam.Pipeline(options=PipelineOptions(list(pipeline_options))) as pipeline:
        (
            pipeline
            | "Corpus" >> beam.Create([reading])
            | "Read documents" >> beam.FlatMap(_read, folder)
            | "Spread over workers" >> beam.Reshuffle()
            | "Write shards" >> beam.ParDo(WriteShard())
        )
    count = int((Path(folder) / UNFINISHED_FOLDER / _COUNT_FILE).read_text(encoding="utf-8"))
    for number in range(count):
        shard: Any = read_shard(folder, number)
        yield shard


def _read(reading: Reading, folder: str) -> Iterator[ShardSource]:
    """Yield what each shard is made of, and note how many there are."""
    from kerazoo.data.prepare import read_sources

    count = 0
    for source in read_sources(*reading):
        count += 1
        yield source
    write_whole(Path(folder) / UNFINISHED_FOLDER / _COUNT_FILE, str(count))
