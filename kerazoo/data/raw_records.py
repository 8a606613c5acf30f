"""Records of a corpus without shards: the same rows, made while they are read."""

from collections.abc import Iterator, Sequence
from typing import Any

import tensorflow as tf

from kerazoo.data.document_blocks import document_blocks
from kerazoo.data.manifest import TokenizerDescription, row_format
from kerazoo.data.plain_text import read_documents
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.row_format import RowFormat
from kerazoo.data.row_records import RowRecords
from kerazoo.data.source_lines import STRICT


def raw_records(
    corpus: Sequence[str],
    tokenizer: Any,
    settings: PrepareSettings,
    errors: str = STRICT,
    document_per_file: bool = False,
) -> tf.data.Dataset:
    """Return the rows of a corpus, one record each, without writing anything.

    They are those that `prepare` writes for the same arguments, in the same order, and are read
    anew in every epoch. Rows are made by Python in one thread: shards are several times as fast.

    Args:
        corpus: files or folders; see `read_documents`.
        tokenizer: a kerazoo tokenizer.
        settings: see `PrepareSettings`.
        errors: "strict", or "replace": bytes that are not UTF-8 become U+FFFD.
        document_per_file: bool, pass over blank lines: a file of plain text is one document.

    Returns:
        A dataset of () string, to be batched and given to `raw_row_format(…).parse`.
    """
    records = RowRecords(tokenizer, settings)

    def blocks() -> Iterator[list[bytes]]:
        documents = read_documents(corpus, errors, document_per_file)
        for number, block in enumerate(document_blocks(documents, settings.documents_per_block)):
            with tf.device("CPU:0"):
                made = records.of_block(block, number)[0]
            yield made

    with tf.device("CPU:0"):
        signature = tf.TensorSpec([None], tf.string)
        return tf.data.Dataset.from_generator(blocks, output_signature=signature).unbatch()


def raw_row_format(tokenizer: Any, settings: PrepareSettings) -> RowFormat:
    """Return how the rows of `raw_records` are parsed: `dataset.batch(…).map(format.parse)`."""
    return row_format(settings, TokenizerDescription.of(tokenizer))
