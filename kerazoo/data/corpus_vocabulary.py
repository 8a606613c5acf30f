"""A vocabulary trained on a corpus, as files that kerazoo's tokenizers and Hugging Face's read."""

import contextlib
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from kerazoo.conversion import huggingface_bpe_tokenizer
from kerazoo.conversion.new_file import check_is_no_file, new_file
from kerazoo.conversion.new_folder import check_is_free, new_folder
from kerazoo.conversion.tokenizer_kinds import tokenizer_files
from kerazoo.data.plain_text import Document, corpus_files, read_documents
from kerazoo.data.source_lines import STANDARD_INPUT, STRICT
from kerazoo.tokenizers.vocabulary_file import write_vocabulary
from kerazoo.tokenizers.vocabulary_training import (
    BYTE_BPE,
    END_OF_TEXT,
    GPT_BPE,
    WORDPIECE,
    TrainedVocabulary,
    train_vocabulary,
)

_BPE_KINDS = {
    BYTE_BPE: huggingface_bpe_tokenizer.BYTE_BPE,
    GPT_BPE: huggingface_bpe_tokenizer.GPT_BPE,
}
READ_AT_MOST = {WORDPIECE: 10**9, GPT_BPE: 10**9, BYTE_BPE: 2 * 10**8}
"""Bytes of text that a vocabulary of each kind is made of, unless a share is chosen."""

# How many bytes of text a byte of a compressed file holds, about.
_UNPACKED = 4
# What Hugging Face writes for a tokenizer that belongs to no model yet.
_NO_LIMIT = int(1e30)


def make_vocabulary(
    corpus: Sequence[str],
    output: str | Path,
    size: int,
    kind: str = WORDPIECE,
    *,
    lowercase: bool = True,
    min_frequency: int = 2,
    character_coverage: float = 0.9995,
    share: float | None = None,
    errors: str = STRICT,
    document_per_file: bool = False,
    on_document: Callable[[], None] = lambda: None,
    show_progress: bool = False,
    say: Callable[[str], None] = lambda words: None,
) -> TrainedVocabulary:
    """Train a vocabulary on a corpus and write it.

    Args:
        corpus: files, folders or ``-``; see `read_documents`.
        output: the file to create for "wordpiece", with one entry a line; the folder to create for
            "byte-bpe" and "gpt-bpe", with `vocab.json`, `merges.txt` and Hugging Face's settings.
        size: int, the most entries.
        kind: "wordpiece", "byte-bpe" or "gpt-bpe".
        lowercase: bool, lower-case the texts and strip accents; "byte-bpe" never does.
        min_frequency: int, entries that are rarer are left out.
        character_coverage: float, the share of all characters that is known.
        share: float, the share of the documents that is read, chosen by their checksums; None is
            all, or of a large corpus as much as `READ_AT_MOST`: memory grows with the different
            words, of which a larger corpus always has more.
        errors: "strict", or "replace": bytes that are not UTF-8 become U+FFFD.
        document_per_file: bool, pass over blank lines: a file of plain text is one document.
        on_document: called for each document that is read; most kinds read the corpus twice.
        show_progress: bool, let the `tokenizers` library show bars.
        say: is told if a share is read that nobody asked for.

    Raises:
        FileExistsError: if there is something at the output.
        FileNotFoundError: if there is no such corpus.
        ValueError: if a text cannot be read, there is none (or none in the share), or the size is
            too small.
    """
    if share is not None and not 0 < share <= 1:
        raise ValueError(f"`share` must be above 0 and at most 1. Received: share={share!r}")
    _check_output(Path(output), kind)
    make_output = new_file if kind == WORDPIECE else new_folder
    with _readable_twice(corpus_files(corpus)) as files, make_output(output) as temporary:
        read_share = _share(files, kind, say) if share is None else share

        def texts() -> Iterator[str]:
            found = read = 0
            for document in read_documents(files, errors, document_per_file):
                on_document()
                found += 1
                text = "\n".join(document)
                if read_share == 1 or zlib.crc32(text.encode("utf-8")) < read_share * 2**32:
                    read += 1
                    yield from _texts(document, text, kind)
            if not read:
                raise ValueError(
                    f"None of the {found:,} documents is in the share that is read; raise it "
                    f"(--share). Received: share={read_share!r}"
                )

        vocabulary = train_vocabulary(
            texts,
            size,
            kind,
            lowercase=lowercase,
            min_frequency=min_frequency,
            character_coverage=character_coverage,
            show_progress=show_progress,
        )
        _write(vocabulary, temporary, lowercase)
    return vocabulary


def _share(files: list[str], kind: str, say: Callable[[str], None]) -> float:
    """Return the share of the documents that makes up about `READ_AT_MOST`."""
    size = sum(
        Path(file).stat().st_size * (_UNPACKED if file.endswith(".gz") else 1) for file in files
    )
    limit = READ_AT_MOST.get(kind, size)
    if size <= limit:
        return 1.0
    share = limit / size
    say(
        f"The corpus has about {size / 1e9:,.1f} GB. So that memory suffices, a share of "
        f"{share:.2g} of the documents is read; --share 1 reads all."
    )
    return share


def _texts(document: Document, text: str, kind: str) -> list[str]:
    """Return what is counted as one text: byte-level BPE sees line ends too."""
    return [text] if kind == BYTE_BPE else document


def _check_output(output: Path, kind: str) -> None:
    if kind == WORDPIECE and output.is_dir():
        raise FileExistsError(
            "A WordPiece vocabulary is a file, and there is a folder of this name. Name a file, "
            f"such as vocab.txt in it. Received: output={str(output)!r}"
        )
    if kind == WORDPIECE:
        check_is_no_file(output)
    else:
        check_is_free(output)


@contextlib.contextmanager
def _readable_twice(files: list[str]) -> Iterator[list[str]]:
    """Copy standard input to a file, as it can be read only once."""
    if STANDARD_INPUT not in files:
        yield files
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "standard input"
        with open(copy, "wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        with open(copy, "rb") as stream:
            is_jsonl = stream.read(4096).lstrip().startswith(b"{")
        named = copy.with_suffix(".jsonl") if is_jsonl else copy
        copy.rename(named)
        yield [str(named) if file == STANDARD_INPUT else file for file in files]


def _write(vocabulary: TrainedVocabulary, output: Path, lowercase: bool) -> None:
    if vocabulary.kind == WORDPIECE:
        write_vocabulary(output, vocabulary.entries)
        return
    settings: dict[str, Any] = {
        "vocabulary": {entry: number for number, entry in enumerate(vocabulary.entries)},
        "merges": list(vocabulary.merges),
        "end_token": END_OF_TEXT,
        "start_token": END_OF_TEXT,
    }
    if vocabulary.kind == GPT_BPE:
        settings |= {"unk_token": "<unk>", "lowercase": lowercase}
    files = tokenizer_files(_BPE_KINDS[vocabulary.kind], settings, _NO_LIMIT)
    for name, content in files.items():
        (output / name).write_text(content, encoding="utf-8")
