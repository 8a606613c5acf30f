"""Texts with entities in them from any file: words with tags, or texts with spans of characters."""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

from kerazoo.axes import ENTITIES, TAGS, TEXT, WORDS
from kerazoo.data.conll import Sentence, conll_sentences
from kerazoo.data.jsonl import check_text, parsed_object
from kerazoo.data.read_table import read_rows
from kerazoo.data.row import Row, Rows
from kerazoo.data.source_lines import (
    STANDARD_INPUT,
    check_is_no_folder,
    source_lines,
    source_name,
)
from kerazoo.data.table import Table
from kerazoo.data.tag_schemes import BIO, TagError, to_bio
from kerazoo.data.text_lines import text_line_rows

CONLL_ENDINGS = (".conll", ".bio", ".iob", ".iob2")
_JSONL_ENDINGS = (".jsonl", ".ndjson")
_TABLE_ENDINGS = (".tsv", ".txt")
_EXAMPLE = '{"text": "Ada came.", "entities": [{"start": 0, "end": 3, "type": "PER"}]}'
_FORMS = ((WORDS, TAGS), (TEXT, ENTITIES))


class TextEntity(NamedTuple):
    """An entity of a text.

    Attributes:
        start: int, its first character.
        end: int, the character behind its last one.
        type: str.
    """

    start: int
    end: int
    type: str


def read_tagged_texts(path: str, tag_scheme: str = BIO, strict: bool = False) -> Table:
    """Read a whole file with tags.

    Args:
        path: words and tags in columns (.conll, .bio, .iob, .iob2, .tsv, .txt), or JSONL with
            `words` and `tags`, or with `text` and `entities`, in characters; plain or .gz; ``-`` is
            standard input.
        tag_scheme: one of `kerazoo.data.tag_schemes.TAG_SCHEMES`.
        strict: bool, whether a bad sentence is an error; else it is left out, and the table's
            `skipped` says which and why.

    Returns:
        The sentences by column: `words` and `tags` (BIO), lists of str, or `text` and `entities`,
        a list of `TextEntity` in order.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if the file is of another layout, holds no good sentence, or, if `strict`, a
            bad one. The message names the file and the line.
    """
    name = source_name(path)
    skipped: list[str] = []
    rows = list(tagged_rows(path, True, tag_scheme, None if strict else skipped))
    if not rows:
        raise ValueError(
            f"{name}: none of its sentences can be used ({len(skipped)}); the first: {skipped[0]}"
            if skipped
            else f"{name} holds no sentence. Expected a word and its tag a line, or {_EXAMPLE}."
        )
    table = Table.from_rows(name, rows)
    return Table(name, table.columns, table.lines, skipped=tuple(skipped))


def tagged_rows(
    path: str,
    with_tags: bool = True,
    tag_scheme: str = BIO,
    skipped: list[str] | None = None,
) -> Rows:
    """Yield the sentences of a file while it is read; see `read_tagged_texts`.

    Args:
        path: the file.
        with_tags: bool, whether every sentence must have tags; False leaves them out.
        tag_scheme: as for `read_tagged_texts`.
        skipped: where to say which bad sentences were left out; None makes each an error.
    """
    check_is_no_folder(path)
    lines = source_lines(path)
    if path == STANDARD_INPUT:
        is_json, lines = _looked_at(lines)
    else:
        is_json = _is_json(path)
    yield from _checked_rows(lines, source_name(path), is_json, with_tags, tag_scheme, skipped)


def rows_to_tag(path: str) -> Rows:
    """Yield texts or words without their tags, while the file is read.

    Args:
        path: words a line (.conll, .bio, .iob, .iob2), JSONL with `text` or `words`, a text a line
            (.txt), or columns with a header (.tsv, .csv); plain or .gz; ``-`` is standard input:
            JSON lines, or a text a line.
    """
    plain = path.removesuffix(".gz").lower()
    if plain.endswith((*CONLL_ENDINGS, *_JSONL_ENDINGS)):
        return tagged_rows(path, with_tags=False)
    if path != STANDARD_INPUT:
        return read_rows(path, (TEXT,), ())
    is_json, lines = _looked_at(source_lines(path))
    name = source_name(path)
    if is_json:
        return _checked_rows(lines, name, is_json, False, BIO, None)
    return text_line_rows(lines, name)


def _looked_at(lines: Iterator[tuple[int, str]]) -> tuple[bool, Iterator[tuple[int, str]]]:
    """Return whether standard input is JSONL, and all its lines again."""
    first = list(islice(lines, 1))
    return bool(first) and first[0][1].lstrip().startswith("{"), chain(first, lines)


def _checked_rows(
    lines: Iterator[tuple[int, str]],
    name: str,
    is_json: bool,
    with_tags: bool,
    tag_scheme: str,
    skipped: list[str] | None,
) -> Rows:
    keys: tuple[str, ...] | None = None
    for number, item in _records(lines) if is_json else _sentences(lines, name):
        where = f"{name}, line {number}"
        try:
            values = _values(item, where, name, with_tags, tag_scheme)
        except ValueError as error:
            if skipped is None:
                raise
            skipped.append(str(error))
            continue
        keys = keys or tuple(values)
        if tuple(values) != keys:
            raise ValueError(
                f"{where}: this row has {_listed(values)}, and those before have {_listed(keys)}; "
                "a file holds one of the two."
            )
        yield Row(number, values)


def _is_json(path: str) -> bool:
    plain = path.removesuffix(".gz").lower()
    if plain.endswith(_JSONL_ENDINGS):
        return True
    if plain.endswith((*CONLL_ENDINGS, *_TABLE_ENDINGS)):
        return False
    raise ValueError(
        f"{path}: the ending of the name does not say what the file is. Use "
        f"{', '.join((*CONLL_ENDINGS, *_TABLE_ENDINGS))} (a word and its tag a line) or "
        f"{', '.join(_JSONL_ENDINGS)} (a text a line), or one of these and .gz."
    )


def _records(lines: Iterator[tuple[int, str]]) -> Iterator[tuple[int, Any]]:
    """Yield line number and text of each line that is not blank."""
    return ((number, text) for number, text in lines if text.strip())


def _sentences(lines: Iterator[tuple[int, str]], name: str) -> Iterator[tuple[int, Any]]:
    return ((sentence.line, sentence) for sentence in conll_sentences(lines, name))


def _values(
    item: Sentence | str, where: str, name: str, with_tags: bool, tag_scheme: str
) -> dict[str, Any]:
    """Return the checked columns of a sentence, or raise ValueError for a bad one."""
    if isinstance(item, Sentence):
        if item.problem:
            raise ValueError(item.problem)
        if not with_tags:
            return {WORDS: item.words}
        if not item.tags:
            raise ValueError(
                f"{where}: there is one column, and a word and its tag are needed. Put a space or "
                "a tab between them."
            )
        places = [f"{name}, line {item.line + index}" for index in range(len(item.words))]
        return {WORDS: item.words, TAGS: _bio(item.tags, tag_scheme, places)}
    record = parsed_object(item, where, _EXAMPLE)
    given = [keys for keys in _FORMS if record.get(keys[0]) is not None]
    if len(given) != 1:
        raise ValueError(
            f"{where}: a row has either `{WORDS}` and `{TAGS}`, or `{TEXT}` and `{ENTITIES}`. "
            f"Received: keys={sorted(record)}"
        )
    (key, answer) = given[0]
    if key == TEXT:
        check_text(TEXT, record[TEXT], where)
        values: dict[str, Any] = {TEXT: record[TEXT]}
        return {**values, ENTITIES: _entities(record, where)} if with_tags else values
    words = _strings(record, WORDS, where)
    if not with_tags:
        return {WORDS: words}
    tags = _strings(record, answer, where)
    if len(words) != len(tags):
        raise ValueError(
            f"{where}: every word needs a tag. Received: words={len(words)}, tags={len(tags)}"
        )
    places = [f"{where}, word {index + 1}" for index in range(len(words))]
    return {WORDS: words, TAGS: _bio(tags, tag_scheme, places)}


def _bio(tags: list[str], scheme: str, places: list[str]) -> list[str]:
    try:
        return to_bio(tags, scheme)
    except TagError as error:
        raise ValueError(
            f"{places[error.index]}: {error}. Correct it, or say how the file marks entities with "
            f"--tag-scheme. Received: --tag-scheme {scheme}"
        ) from error


def _strings(record: Mapping[str, Any], key: str, where: str) -> list[str]:
    values = record.get(key)
    if not isinstance(values, list):
        raise ValueError(f"{where}: `{key}` must be a list of strings. Received: {key}={values!r}")
    for value in values:
        check_text(key, value, where)
        if not value:
            raise ValueError(f"{where}: an entry of `{key}` is empty. Received: {key}={values!r}")
    return values


def _entities(record: Mapping[str, Any], where: str) -> list[TextEntity]:
    """Return the entities of a text in order, none of which overlap."""
    given, text = record.get(ENTITIES), record[TEXT]
    if not isinstance(given, list):
        raise ValueError(
            f'{where}: `{ENTITIES}` must be a list; a text without any has "{ENTITIES}": []. '
            f"Received: {ENTITIES}={given!r}"
        )
    entities = sorted(_entity(item, text, where) for item in given)
    for before, entity in zip(entities, entities[1:], strict=False):
        if entity.start < before.end:
            raise ValueError(
                f"{where}: two entities overlap, and a character can belong to one only. "
                f"Received: {_shown(before, text)} and {_shown(entity, text)}"
            )
    return entities


def _entity(item: Any, text: str, where: str) -> TextEntity:
    keys = ("start", "end", "type")
    if not isinstance(item, Mapping) or any(key not in item for key in keys):
        raise ValueError(f"{where}: an entity needs {', '.join(keys)}. Received: {item!r}")
    start, end, kind = (item[key] for key in keys)
    if any(isinstance(value, bool) or not isinstance(value, int) for value in (start, end)):
        raise ValueError(f"{where}: start and end are numbers of characters. Received: {item!r}")
    if not 0 <= start < end <= len(text):
        raise ValueError(
            f"{where}: the text ends at character {len(text)}, and an entity lies in it and is not "
            f"empty. Received: start={start}, end={end}"
        )
    check_text("type", kind, where)
    if not kind.strip():
        raise ValueError(f"{where}: the type of an entity is empty. Received: {item!r}")
    entity = TextEntity(start, end, kind)
    if text[start:end] != text[start:end].strip():
        raise ValueError(
            f"{where}: an entity begins or ends with white space. Received: {_shown(entity, text)}"
        )
    if isinstance(item.get(TEXT), str) and item[TEXT] != text[start:end]:
        raise ValueError(
            f"{where}: an entity is another part of the text than it says. "
            f"Received: text={item[TEXT]!r} for {_shown(entity, text)}"
        )
    return entity


def _shown(entity: TextEntity, text: str) -> str:
    return f"{text[entity.start : entity.end]!r} ({entity.start} to {entity.end})"


def _listed(keys: Any) -> str:
    return ", ".join(f"`{key}`" for key in keys)
