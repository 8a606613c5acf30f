"""What a pre-training run reads: a folder of shards, or files and folders of raw text."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from kerazoo.data.data_service import DataService
from kerazoo.data.manifest import (
    MANIFEST_FILE,
    UNFINISHED_FOLDER,
    Manifest,
    check_vocabulary,
    read_manifest,
)
from kerazoo.data.objectives import BERT_MLM, GPT
from kerazoo.data.plain_text import corpus_files
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.row_source import RowSource
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.progress import SILENT, Progress

_SHARDS_DECIDE = ("objective", "sequence_length", "segmenter", "packing")
_DEFAULT_LENGTH = 128


@dataclasses.dataclass(frozen=True)
class PretrainData:
    """Texts to train or to validate on.

    Args:
        paths: a folder of `kerazoo prepare`, or files and folders of text.
        manifest: what the folder of shards holds; None for raw text.
    """

    paths: tuple[str, ...]
    manifest: Manifest | None

    @classmethod
    def open(cls, paths: str | Sequence[str]) -> Self:
        """Look what there is.

        Raises:
            FileNotFoundError: if there are shards without a manifest, or nothing of this name.
            ValueError: if the manifest is damaged.
        """
        named = (paths,) if isinstance(paths, str) else tuple(paths)
        if _are_shards(named):
            return cls(named, read_manifest(named[0]))
        corpus_files(named)
        return cls(named, None)

    def check_settings(self, config: PretrainConfig) -> None:
        """Raise ValueError if the config wants other rows than the shards hold."""
        if self.manifest is None:
            return
        for name in _SHARDS_DECIDE:
            wanted, held = getattr(config, name), getattr(self.manifest.settings, name)
            if wanted is not None and wanted != held:
                raise ValueError(
                    f"The shards hold rows of {name}={held!r}, which was decided when they were "
                    f"prepared. Leave the setting out, or prepare others. Received: "
                    f"{name}={wanted!r}"
                )

    def service(self, addresses: Sequence[str]) -> DataService | None:
        """Return what prepares the batches elsewhere; None if there is no address.

        Raises:
            ConnectionError: if a server does not answer.
            ValueError: if there is none at an address, or the rows are made of raw text.
        """
        if addresses and self.manifest is None:
            raise ValueError(
                "Raw text becomes rows in Python, which a data service does not run. Write the "
                "rows with `kerazoo prepare`, to a folder that the servers find under the same "
                f"path, and train on that. Received: data_service={list(addresses)!r} with "
                f"data={list(self.paths)!r}"
            )
        return DataService.of(addresses)

    def tokenizer(self, preset: str | None, vocabulary: str | None, lowercase: bool) -> Any:
        """Return the tokenizer of a checkpoint, of a vocabulary, or of the shards.

        Raises:
            FileNotFoundError: if there is no such checkpoint or file.
            ValueError: if the shards were made by another one, or nothing names one.
        """
        from kerazoo.data.tokenizer_source import preset_tokenizer, vocabulary_tokenizer
        from kerazoo.tokenizers.base import Tokenizer

        if preset is not None:
            tokenizer = preset_tokenizer(preset)
        elif vocabulary is not None:
            tokenizer = vocabulary_tokenizer(vocabulary, lowercase)
        elif self.manifest is not None:
            tokenizer = Tokenizer.from_preset(self.paths[0])
        else:
            raise ValueError(
                "A new model for raw text needs a vocabulary; `kerazoo vocab` trains one. "
                "Received: vocabulary=None"
            )
        if self.manifest is not None:
            check_vocabulary(self.manifest, tokenizer)
        return tokenizer

    def row_settings(
        self, is_causal: bool, config: PretrainConfig, longest: int | None = None
    ) -> PrepareSettings:
        """Return what rows there are, or are to be made of raw text.

        Args:
            is_causal: bool, whether the model reads from left to right.
            config: the settings of the run.
            longest: int, the most tokens of a row that the model reads; None is no limit.

        Raises:
            ValueError: if the rows are longer than that.
        """
        if self.manifest is not None:
            held = self.manifest.sequence_length
            if longest is not None and held > longest:
                raise ValueError(
                    f"The shards hold rows of {held} tokens, and the model reads at most {longest} "
                    "positions. Prepare shards with a shorter `sequence_length` (--sequence-length "
                    f"of `kerazoo prepare`). Received: data={self.paths[0]!r}"
                )
            return self.manifest.settings
        default = _DEFAULT_LENGTH if longest is None else min(_DEFAULT_LENGTH, longest)
        wanted = config.sequence_length or default
        if longest is not None and wanted > longest:
            raise ValueError(
                f"The model reads at most {longest} positions. Choose a shorter `sequence_length` "
                f"(--sequence-length), or leave it out. Received: sequence_length={wanted}"
            )
        return PrepareSettings(
            objective=config.objective or (GPT if is_causal else BERT_MLM),
            sequence_length=wanted,
            segmenter=config.segmenter,
            packing=config.packing,
            seed=config.seed,
        )

    def rows(
        self,
        tokenizer: Any,
        settings: PrepareSettings,
        held_out_fraction: float,
        config: PretrainConfig,
        progress: Progress = SILENT,
    ) -> RowSource:
        """Return the rows; shards are checked, raw text is read once to count.

        Args:
            tokenizer: a kerazoo tokenizer.
            settings: what rows to make of raw text.
            held_out_fraction: float, the share to hold out.
            config: the settings of the run.
            progress: where to show how far the work is.

        Raises:
            FileNotFoundError: if a shard or a text is missing.
            ValueError: if a shard is damaged or of another kind, a text cannot be read, or no rows
                can be held out.
        """
        from kerazoo.data.shard_rows import ShardRows
        from kerazoo.data.text_rows import TextRows

        share = (held_out_fraction, config.validation_rows)
        if self.manifest is None:
            plain = dataclasses.replace(settings, static_masks=0)
            with progress.bar("reading the texts") as advance:
                return TextRows(
                    self.paths, tokenizer, plain, *share, on_block=lambda: advance(1, "blocks")
                )
        check_vocabulary(self.manifest, tokenizer)
        for name in ("objective", "sequence_length", "packing"):
            expected, held = getattr(settings, name), getattr(self.manifest.settings, name)
            if expected != held:
                raise ValueError(
                    f"The shards to validate on must be of the {name} of those to train on, "
                    f"{expected!r}. Received: {name}={held!r} in {self.paths[0]!r}"
                )
        if self.manifest.settings.static_masks > 1 and 0 < held_out_fraction < 1:
            raise ValueError(
                "Each text is several times in shards with static masks, so rows that are held out "
                "would be trained on too. Name validation data, or take validation_fraction=0. "
                f"Received: validation_fraction={held_out_fraction}"
            )
        return ShardRows(self.paths[0], self.manifest, *share, seed=config.seed)


def _are_shards(paths: Sequence[str]) -> bool:
    if len(paths) != 1:
        return False
    return any((Path(paths[0]) / name).exists() for name in (MANIFEST_FILE, UNFINISHED_FOLDER))
