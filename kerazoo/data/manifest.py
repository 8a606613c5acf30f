"""What a folder of shards holds: settings, tokenizer, counts and checksums."""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.row_format import RowFormat
from kerazoo.data.shard import Counts, Shard

MANIFEST_FILE = "manifest.json"
UNFINISHED_FOLDER = ".unfinished"
VERSION = 1
_READING_OPTIONS = ("lowercase", "strip_accents", "split_on_cjk", "split_unknown", "map_quotes")


@dataclasses.dataclass(frozen=True)
class TokenizerDescription:
    """What the ids of the rows mean.

    Args:
        class_name: the tokenizer's class.
        vocabulary_size: int.
        vocabulary_sha256: str, the checksum of entries and merges.
        pad_token_id: int.
        options: how texts are read.
        border_token_id: int, the id with which each text of a packed row begins (WordPiece) or ends
            (BPE); None if there is no such token.
    """

    class_name: str
    vocabulary_size: int
    vocabulary_sha256: str
    pad_token_id: int
    options: dict[str, Any]
    border_token_id: int | None = None

    @classmethod
    def of(cls, tokenizer: Any) -> "TokenizerDescription":
        """Return the description of a tokenizer with a vocabulary."""
        options = {name: getattr(tokenizer, name, None) for name in _READING_OPTIONS}
        if options["strip_accents"] is None:
            options["strip_accents"] = options["lowercase"]
        return cls(
            class_name=type(tokenizer).__name__,
            vocabulary_size=tokenizer.vocabulary_size(),
            vocabulary_sha256=vocabulary_hash(tokenizer),
            pad_token_id=tokenizer.pad_token_id,
            options={name: value for name, value in options.items() if value is not None},
            border_token_id=_border_token_id(tokenizer),
        )


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What a folder of shards holds.

    Args:
        settings: what decided which rows were made.
        tokenizer: what their ids mean.
        counts: sums over all shards.
        shards: the files, in order.
        version: int, of the format.
    """

    settings: PrepareSettings
    tokenizer: TokenizerDescription
    counts: Counts
    shards: tuple[Shard, ...]
    version: int = VERSION

    @property
    def objective(self) -> str:
        """The objective: "bert", "bert-mlm" or "gpt"."""
        return self.settings.objective

    @property
    def sequence_length(self) -> int:
        """The tokens of a row that a model reads; "gpt" stores one more, the last target."""
        return self.settings.sequence_length

    @property
    def pad_token_id(self) -> int:
        """The id on padding."""
        return self.tokenizer.pad_token_id

    @property
    def rows(self) -> int:
        """Rows of all shards."""
        return self.counts.rows

    @property
    def row_format(self) -> RowFormat:
        """How a row lies in its record."""
        return row_format(self.settings, self.tokenizer)

    @property
    def shard_names(self) -> list[str]:
        """The names of the files, in order."""
        return [shard.name for shard in self.shards]

    def as_json(self) -> str:
        """Return the file's content."""
        return json.dumps(dataclasses.asdict(self), indent=2, ensure_ascii=False) + "\n"


def row_format(settings: PrepareSettings, tokenizer: TokenizerDescription) -> RowFormat:
    """Return how a row lies in its record."""
    return RowFormat(
        objective=settings.objective,
        row_length=settings.row_length,
        vocabulary_size=tokenizer.vocabulary_size,
        pad_token_id=tokenizer.pad_token_id,
        mask_slots=settings.mask_slots,
        border_token_id=None if settings.packing is None else tokenizer.border_token_id,
    )


def _border_token_id(tokenizer: Any) -> int | None:
    if hasattr(tokenizer, "tokenize_with_word_starts"):
        return int(tokenizer.template_token_ids[0])
    return tokenizer.end_token_id


def vocabulary_hash(tokenizer: Any) -> str:
    """Return the SHA-256 of a tokenizer's entries and merges, in hexadecimal."""
    merges = tokenizer.get_merges() if hasattr(tokenizer, "get_merges") else []
    lines = json.dumps([tokenizer.get_vocabulary(), merges], ensure_ascii=False)
    return hashlib.sha256(lines.encode("utf-8")).hexdigest()


def read_manifest(folder: str | Path) -> Manifest:
    """Return what a folder of shards holds.

    Raises:
        FileNotFoundError: if there is no such folder, or it has no manifest.
        ValueError: if the manifest is damaged or of another version.
    """
    folder = Path(folder)
    file = folder / MANIFEST_FILE
    if (folder / UNFINISHED_FOLDER).is_dir() and not file.is_file():
        raise FileNotFoundError(
            "The folder of shards is not finished. Run the same `kerazoo prepare` again; what is "
            f"finished is kept. Received: folder={str(folder)!r}"
        )
    if not file.is_file():
        raise FileNotFoundError(
            f"The folder holds no {MANIFEST_FILE}, so it is none that `kerazoo prepare` wrote. "
            f"Received: folder={str(folder)!r}"
        )
    content = read_json_object(file)
    if content.get("version") != VERSION:
        raise ValueError(
            f"{file} is of another version; this kerazoo reads {VERSION}. Prepare the corpus "
            f"again. Received: version={content.get('version')!r}"
        )
    try:
        return Manifest(
            settings=PrepareSettings(**content["settings"]),
            tokenizer=TokenizerDescription(**content["tokenizer"]),
            counts=Counts(**content["counts"]),
            shards=tuple(Shard.from_dict(shard) for shard in content["shards"]),
        )
    except (KeyError, TypeError) as error:
        raise ValueError(
            f"{file} is damaged: a field is missing or unknown ({error}). Prepare the corpus again."
        ) from error


def check_vocabulary(manifest: Manifest, tokenizer: Any) -> None:
    """Raise ValueError unless a tokenizer gives the ids that the shards hold.

    Args:
        manifest: from `read_manifest`.
        tokenizer: a kerazoo tokenizer.
    """
    stored, given = manifest.tokenizer, TokenizerDescription.of(tokenizer)
    if stored.vocabulary_sha256 != given.vocabulary_sha256:
        raise ValueError(
            "The shards were made with another vocabulary, so their ids mean other tokens. Prepare "
            "the corpus with this vocabulary, or take the one of the shards. Received: "
            f"{given.vocabulary_size} entries, {given.vocabulary_sha256[:12]}…; the shards' has "
            f"{stored.vocabulary_size}, {stored.vocabulary_sha256[:12]}…"
        )
    for name in sorted(stored.options.keys() | given.options.keys()):
        if stored.options.get(name) != given.options.get(name):
            raise ValueError(
                "The shards were made with a tokenizer of other settings, so texts get other ids "
                "there. Prepare the corpus with this tokenizer. Received: "
                f"{name}={given.options.get(name)!r}; the shards' has "
                f"{name}={stored.options.get(name)!r}"
            )
