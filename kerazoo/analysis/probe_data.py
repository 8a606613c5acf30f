"""Labelled words or texts, which a probe reads off a model's states."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

from kerazoo.analysis.packed_texts import text_rows
from kerazoo.axes import LABEL, TAGS, TEXT, TEXT_PAIR, WORDS
from kerazoo.checks import check_one_of
from kerazoo.data.conll import conll_sentences
from kerazoo.data.jsonl import parsed_object
from kerazoo.data.read_table import read_rows
from kerazoo.data.source_lines import check_is_no_folder, source_lines, source_name
from kerazoo.data.tagged_texts import CONLL_ENDINGS

TOKEN, SEQUENCE = "token", "sequence"
LEVELS = (TOKEN, SEQUENCE)
_EXAMPLE = '{"words": ["Ada", "came"], "tags": ["NNP", "VBD"]}'

ProbeRow = tuple[tuple[str, ...], tuple[str, ...]]
"""The words of a sentence and their labels, or the text (or pair) and its one label."""


@dataclass(frozen=True)
class ProbeData:
    """What is labelled: the words of sentences, or whole texts.

    Args:
        level: "token" or "sequence".
        rows: for each sentence its words, for each text itself, or the pair.
        labels: for each sentence the labels of its words, for each text its one label.
        name: what messages call the data.
    """

    level: str
    rows: list[tuple[str, ...]]
    labels: list[tuple[str, ...]]
    name: str = "the data"

    def __post_init__(self) -> None:
        """Check that there is something to tell apart."""
        check_one_of("level", self.level, LEVELS)
        if len(self.rows) != len(self.labels):
            raise ValueError(
                f"{self.name}: every row needs its labels. "
                f"Received: {len(self.rows)} rows, {len(self.labels)} of labels"
            )
        for number, (row, labels) in enumerate(zip(self.rows, self.labels, strict=True)):
            wanted = len(row) if self.level == TOKEN else 1
            if len(labels) != wanted:
                raise ValueError(
                    f"{self.name}, row {number}: every word needs a label, and a text one. "
                    f"Received: {len(labels)} labels for {wanted}"
                )
        check_labels(self.name, self.label_names)

    @property
    def label_names(self) -> list[str]:
        """The different labels in order."""
        return sorted({label for row in self.labels for label in row})

    @classmethod
    def of(cls, dataset: Any, level: str, max_rows: int | None = None) -> Self:
        """Return labelled rows from a file or from memory.

        Args:
            dataset: a file: for words CoNLL columns or JSONL with `words` and `tags`, for texts
                .tsv, .csv or .jsonl with `text`, perhaps `text_pair`, and `label`; or `(x, y)`,
                lists of words and of labels, or texts as for `attention_maps` and labels.
            level: "token" or "sequence".
            max_rows: int, take the first rows only; None takes all.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if a row is not what it must be; the message names the file and the line.
            TypeError: if there are neither files nor rows.
        """
        check_one_of("level", level, LEVELS)
        if isinstance(dataset, cls):
            return cls(level, dataset.rows[:max_rows], dataset.labels[:max_rows], dataset.name)
        if isinstance(dataset, (str, Path)):
            path = str(dataset)
            found = list(islice(_read(path, level), max_rows))
            return cls(level, [row for row, _ in found], [y for _, y in found], source_name(path))
        x, y = _labelled(dataset)
        if level == TOKEN:
            rows, labels = [tuple(words) for words in x], [tuple(map(str, tags)) for tags in y]
        else:
            rows, labels = text_rows(x), [(str(label),) for label in y]
        return cls(level, rows[:max_rows], labels[:max_rows])


def _labelled(dataset: Any) -> tuple[Any, Any]:
    """Return `(x, y)`, if that is what was given and every label is there."""
    if not isinstance(dataset, (tuple, list)) or len(dataset) != 2:
        raise TypeError(
            "Labelled data are a file, or a pair (x, y). "
            f"Received: dataset of type {type(dataset).__name__}"
        )
    for number, labels in enumerate(dataset[1]):
        if labels is None or (isinstance(labels, (list, tuple)) and None in labels):
            raise ValueError(f"Row {number} lacks a label. Received: {labels!r}")
    return dataset[0], dataset[1]


def check_labels(name: str, labels: Sequence[str], why: str = "") -> None:
    """Raise ValueError unless there are two labels to tell apart.

    Args:
        name: what messages call the data.
        labels: the different labels.
        why: a sentence that says where the others are.
    """
    if len(labels) < 2:
        raise ValueError(
            f"{name}: a probe tells labels apart, and needs two or more. {why}"
            f"Received: labels={list(labels)}"
        )


def _read(path: str, level: str) -> Iterator[ProbeRow]:
    plain = path.removesuffix(".gz").lower()
    if level == TOKEN:
        check_is_no_folder(path)
        is_json = plain.endswith((".jsonl", ".ndjson"))
        yield from _json_sentences(path) if is_json else _column_sentences(path)
        return
    if plain.endswith(CONLL_ENDINGS):
        raise ValueError(
            f"{source_name(path)} has a word and its label a line: give --level token (in Python "
            f"level='token'). Received: level={level!r}"
        )
    for row in read_rows(path, (TEXT, LABEL), (TEXT_PAIR,)):
        texts = tuple(row.values[key] for key in (TEXT, TEXT_PAIR) if key in row.values)
        for name, text in zip((TEXT, TEXT_PAIR), texts, strict=False):
            if not text.strip():
                raise ValueError(f"{path}, line {row.line}: the {name} is empty. Remove the row.")
        yield texts, (str(row.values[LABEL]),)


def _column_sentences(path: str) -> Iterator[ProbeRow]:
    name = source_name(path)
    for sentence in conll_sentences(_without_header(source_lines(path), name), name):
        if sentence.problem:
            raise ValueError(sentence.problem)
        if not sentence.tags:
            raise ValueError(
                f"{name}, line {sentence.line}: there is one column, and a word and its label are "
                "needed. Put a space or a tab between them."
            )
        yield tuple(sentence.words), tuple(sentence.tags)


def _without_header(lines: Iterator[tuple[int, str]], name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines, of which the first is no header of a table of texts."""
    for number, text in lines:
        if number == 1:
            _check_columns([cell.strip(' "') for cell in re.split("[\t,]", text)], name)
        yield number, text


def _check_columns(columns: Collection[str], name: str) -> None:
    """Raise ValueError if these are the columns of labelled texts."""
    if {TEXT, LABEL} <= set(columns):
        raise ValueError(
            f"{name} has the columns {TEXT} and {LABEL}: give --level sequence (in Python "
            f"level='sequence'). Received: level={TOKEN!r}"
        )


def _json_sentences(path: str) -> Iterator[ProbeRow]:
    for number, text in source_lines(path):
        if not text.strip():
            continue
        where = f"{source_name(path)}, line {number}"
        record = parsed_object(text, where, _EXAMPLE)
        if WORDS not in record:
            _check_columns(record, where)
        words, tags = (_strings(record.get(key), where) for key in (WORDS, TAGS))
        if len(words) != len(tags):
            raise ValueError(
                f"{where}: every word needs a label. Received: {len(words)} words, {len(tags)} tags"
            )
        yield words, tags


def _strings(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(x, str) and x for x in value):
        raise ValueError(
            f"{where}: `{WORDS}` and `{TAGS}` are lists of strings. Expected {_EXAMPLE}."
        )
    return tuple(value)
