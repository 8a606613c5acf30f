"""Documents of a corpus of plain text or JSONL: files, folders, standard input."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from kerazoo.axes import TEXT
from kerazoo.data.jsonl import check_text, parsed_object
from kerazoo.data.source_lines import STANDARD_INPUT, STRICT, source_lines, source_name

Document = list[str]
"""The segments of a document in order: a sentence or a paragraph each, none of them blank."""

_JSONL_ENDINGS = (".jsonl", ".ndjson")
# In a folder; a file without an ending counts as text, as in `wiki_00`.
_ENDINGS = (".txt", *_JSONL_ENDINGS, "")
_EXAMPLE = '{"text": "…"}'


def read_documents(
    corpus: Sequence[str], errors: str = STRICT, document_per_file: bool = False
) -> Iterator[Document]:
    r"""Yield the documents of a corpus while it is read, so it may be of any size.

    In plain text a line is a segment and a blank line ends a document, as does the end of a file.
    In JSONL (`.jsonl`, `.ndjson`, or standard input that begins with `{`) every object is a
    document, and the lines of its `text` are segments.

    Args:
        corpus: files, each also with `.gz`; folders, of which all files that end in .txt, .jsonl,
            .ndjson or not at all are read, in the order of their names; ``-`` is standard input.
        errors: "strict", or "replace": bytes that are not UTF-8 become U+FFFD.
        document_per_file: bool, pass over blank lines: a file of plain text is one document.

    Yields:
        Lists of segments.

    Raises:
        FileNotFoundError: if there is no such file or folder.
        ValueError: if a line is no text, a line of JSONL is no object with a text, or there is no
            text at all. The message names the file and the line.
    """
    found = False
    for path in corpus_files(corpus):
        lines = source_lines(path, errors)
        if path == STANDARD_INPUT:
            is_jsonl, lines = _looked_at(lines)
        else:
            is_jsonl = path.removesuffix(".gz").lower().endswith(_JSONL_ENDINGS)
        if is_jsonl:
            documents = _jsonl_documents(lines, source_name(path))
        else:
            documents = _text_documents((text for _, text in lines), document_per_file)
        for document in documents:
            found = True
            yield document
    if not found:
        raise ValueError(
            "The corpus holds no text: every line is blank. Give it sentences or paragraphs, one a "
            f"line, with a blank line between documents. Received: corpus={list(corpus)!r}"
        )


def corpus_files(corpus: Sequence[str]) -> list[str]:
    """Return the files of a corpus: what is named, and of folders the files of text in order.

    Args:
        corpus: files, folders, or ``-`` for standard input.

    Raises:
        FileNotFoundError: if there is no such file or folder.
        ValueError: if nothing is named, or a folder holds no text.
    """
    if not corpus:
        raise ValueError(f"Name at least one file or folder. Received: corpus={list(corpus)!r}")
    files: list[str] = []
    for path in corpus:
        if path == STANDARD_INPUT or Path(path).is_file():
            files.append(path)
        elif Path(path).is_dir():
            files += _files_in(Path(path))
        else:
            raise FileNotFoundError(f"There is no file or folder {path}. Check the name.")
    return files


def _files_in(folder: Path) -> list[str]:
    found = sorted(folder.rglob("*"))
    for shard in (path for path in found if path.suffix == ".tfrecord"):
        # The only text in a folder of shards is their vocabulary.
        raise ValueError(
            f"The folder holds shards, {shard.name} in {str(shard.parent)!r}, and is read as text. "
            "Name one complete folder of `kerazoo prepare` (its manifest.json is written last), or "
            f"texts. Received: {str(folder)!r}"
        )
    files = [
        path
        for path in found
        if path.is_file() and not _is_hidden(path.relative_to(folder)) and _is_text(path)
    ]
    if not files:
        raise ValueError(
            "The folder holds no file that ends in .txt, .jsonl, .ndjson (each also with .gz) or "
            f"has no ending. Received: {str(folder)!r}"
        )
    return [str(path) for path in files]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _is_text(path: Path) -> bool:
    return Path(path.name.removesuffix(".gz")).suffix.lower() in _ENDINGS


def _looked_at(lines: Iterator[tuple[int, str]]) -> tuple[bool, Iterator[tuple[int, str]]]:
    """Return whether standard input is JSONL, and all its lines again."""
    first = list(_first_with_text(lines))
    is_jsonl = bool(first) and first[-1][1].lstrip().startswith("{")
    return is_jsonl, chain(first, lines)


def _first_with_text(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    for line in lines:
        yield line
        if line[1].strip():
            return


def _text_documents(lines: Iterable[str], document_per_file: bool) -> Iterator[Document]:
    document: Document = []
    for text in lines:
        if text and not text.isspace():
            document.append(text)
        elif document and not document_per_file:
            yield document
            document = []
    if document:
        yield document


def _jsonl_documents(lines: Iterable[tuple[int, str]], name: str) -> Iterator[Document]:
    for line, text in lines:
        if not text.strip():
            continue
        where = f"{name}, line {line}"
        record = parsed_object(text, where, _EXAMPLE)
        if TEXT not in record:
            found = ", ".join(repr(key) for key in record) or "none"
            raise ValueError(f"{where}: the key `{TEXT}` is missing; found {found}. Add it.")
        check_text(TEXT, record[TEXT], where)
        segments = (part.removesuffix("\r") for part in record[TEXT].split("\n"))
        yield from _text_documents(segments, document_per_file=True)
