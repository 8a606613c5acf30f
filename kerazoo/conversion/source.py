"""Where a model comes from: a folder on disk or a handle, and the format it is in."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kerazoo.conversion import google_tf1, hub, huggingface_config, tokenizer_kinds
from kerazoo.conversion.checkpoint_files import WEIGHT_FILE_NAMES
from kerazoo.conversion.huggingface_tensors import open_huggingface
from kerazoo.conversion.huggingface_tokenizer import check_vocabulary_fits
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.loading import Checkpoint, load_weights, model_variables
from kerazoo.conversion.model_types import BERT, MULTIPLE_CHOICE, WITH_CLASSIFIER
from kerazoo.conversion.report import LoadReport

KERAZOO = "kerazoo"
HUGGINGFACE = "huggingface"
GOOGLE_TF1 = "google_tf1"
_SHOWN = 6


@dataclass(frozen=True)
class CheckpointSource:
    """A checkpoint on disk and its format.

    Args:
        folder: where it lies.
        format: "kerazoo" (a preset, which KerasHub reads; the methods here are for the other
            two), "huggingface" or "google_tf1".
    """

    folder: Path
    format: str

    @property
    def family(self) -> str:
        """The backbone's family: "bert", "gpt", or that of another backbone of KerasHub."""
        if self.format == GOOGLE_TF1:
            return BERT.family
        if self.format == HUGGINGFACE:
            return huggingface_config.read_model_type(self.folder).family
        content = read_json_object(self.folder / huggingface_config.CONFIG_FILE)
        return str(content["class_name"]).removesuffix("Backbone").lower()

    @property
    def max_sequence_length(self) -> int | None:
        """The most tokens of a row that the model reads; None if it does not say."""
        if self.format == KERAZOO:
            content = read_json_object(self.folder / huggingface_config.CONFIG_FILE)
            limit = content["config"].get("max_sequence_length")
        else:
            limit = self.backbone_config()["max_sequence_length"]
        return None if limit is None else int(limit)

    def backbone_config(self) -> dict[str, Any]:
        """Return the fields of the backbone's config dataclass."""
        if self.format == GOOGLE_TF1:
            return google_tf1.read_google_config(self.folder)
        return huggingface_config.read_huggingface_config(self._foreign_folder())

    def tokenizer_kind_and_settings(self) -> tuple[str, dict[str, Any]]:
        """Return the kind of tokenizer ("wordpiece", "byte_bpe", "gpt_bpe") and its arguments.

        Raises:
            FileNotFoundError: if the checkpoint has no tokenizer.
            ValueError: if kerazoo does not have its tokenizer, or the vocabulary is larger than
                the embedding matrix.
        """
        if self.format == GOOGLE_TF1:
            kind = tokenizer_kinds.WORDPIECE
            settings = google_tf1.read_google_tokenizer(self.folder)
        else:
            folder = self._foreign_folder()
            model_type = huggingface_config.read_model_type(folder)
            kind, settings = tokenizer_kinds.read_tokenizer(folder, model_type)
        rows = self.backbone_config()["vocabulary_size"]
        check_vocabulary_fits(settings["vocabulary"], rows, self.folder)
        return kind, settings

    def tokenizer_settings(self) -> dict[str, Any]:
        """Return the arguments of the tokenizer's class, its vocabulary as a list of tokens."""
        return self.tokenizer_kind_and_settings()[1]

    def tokenizer(self) -> Any:
        """Return the tokenizer of the checkpoint."""
        return tokenizer_kinds.new_tokenizer(*self.tokenizer_kind_and_settings())

    def task_name(self) -> str | None:
        """Return the name of the task whose model a foreign checkpoint is; None if it is none."""
        if self.format == GOOGLE_TF1:
            return google_tf1.read_google_task(self.folder)
        return huggingface_config.read_task(self._foreign_folder())

    def task_config(self, task_name: str) -> dict[str, Any]:
        """Return constructor arguments of a task whose head the checkpoint holds; {} if none.

        Args:
            task_name: the task's name, for example "text-classification".
        """
        if task_name not in WITH_CLASSIFIER or task_name != self.task_name():
            return {}
        if task_name == MULTIPLE_CHOICE:
            head: dict[str, Any] = {"pooling": "pooled"}
        elif (labels := self.labels()) is None:
            return {}
        else:
            head = {"labels": labels}
        dropout = self.head_dropout()
        return {**head, **({} if dropout is None else {"dropout": dropout})}

    def labels(self) -> list[str] | None:
        """Return the label names of a classifier; None if this is none, or has no names."""
        if self.format == GOOGLE_TF1:
            return None
        return huggingface_config.read_labels(self._foreign_folder())

    def head_dropout(self) -> float | None:
        """Return the dropout rate before the head; None means that of the backbone."""
        if self.format == GOOGLE_TF1:
            return None
        return huggingface_config.read_head_dropout(self._foreign_folder())

    def load_backbone(self, backbone: Any) -> LoadReport:
        """Load the weights of a backbone; every one of them must be there.

        Raises:
            ValueError: if a weight is missing or of another shape, or a file is damaged.
        """
        return load_weights(model_variables(backbone), self._open())

    def load_task(self, task: Any, with_head: bool = True) -> LoadReport:
        """Load the weights of a task; those of its head may be missing.

        Args:
            task: a model on top of a backbone.
            with_head: whether head weights are loaded too; give False for new labels.

        Raises:
            ValueError: if a backbone weight is missing, a shape differs, or a file is damaged.
        """
        return load_weights(model_variables(task), self._open(), with_head=with_head)

    def _open(self) -> Checkpoint:
        if self.format == GOOGLE_TF1:
            return google_tf1.open_google_tf1(self.folder)
        return open_huggingface(self._foreign_folder())

    def _foreign_folder(self) -> Path:
        if self.format != HUGGINGFACE:
            raise ValueError(
                f"A kerazoo preset is read with from_preset. Received: {str(self.folder)!r}"
            )
        return self.folder


def open_checkpoint(preset: str | Path | CheckpointSource) -> CheckpointSource:
    """Return where a model comes from; a handle is downloaded first.

    Args:
        preset: a folder, a handle `hf://organisation/name`, or what this function returned.

    Raises:
        FileNotFoundError: if there is no such folder or repository.
        ValueError: if the folder is no checkpoint that kerazoo reads.
    """
    if isinstance(preset, CheckpointSource):
        return preset
    if isinstance(preset, str) and preset.startswith(hub.SCHEME):
        folder = hub.download(preset)
    else:
        folder = Path(preset).expanduser()
    return CheckpointSource(folder, detect_format(folder))


def detect_format(folder: str | Path) -> str:
    """Return the format of a checkpoint: "kerazoo", "huggingface" or "google_tf1".

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if the folder is no checkpoint.
    """
    folder = Path(folder)
    if not folder.exists():
        raise FileNotFoundError(
            "There is no such folder; a model on the Hugging Face Hub is written "
            f"hf://organisation/name. Received: {str(folder)!r}"
        )
    if not folder.is_dir():
        raise ValueError(
            f"A checkpoint is a folder; name the folder that holds this file. "
            f"Received: {str(folder)!r}"
        )
    config = folder / huggingface_config.CONFIG_FILE
    if config.is_file():
        content = read_json_object(config)
        if "class_name" in content:
            if not isinstance(content.get("config"), dict):
                raise ValueError(f"{config} names a class and lacks its `config`; it is damaged.")
            return KERAZOO
        has_weights = any((folder / name).is_file() for name in WEIGHT_FILE_NAMES)
        if has_weights or "model_type" in content or "hidden_size" in content:
            return HUGGINGFACE
    if (folder / google_tf1.CONFIG_FILE).is_file():
        return GOOGLE_TF1
    raise ValueError(_no_checkpoint(folder))


def _no_checkpoint(folder: Path) -> str:
    names = sorted(path.name for path in folder.iterdir())
    shown = ", ".join(names[:_SHOWN]) + (", …" if len(names) > _SHOWN else "")
    found = f"It holds: {shown}." if names else "It is empty."
    hint = ""
    versions = [".", *filter(str.isdigit, names)]
    if any((folder / version / "saved_model.pb").is_file() for version in versions):
        hint = " It is an exported SavedModel: give the preset that it was exported from."
    return (
        f"{folder} is no checkpoint. {found}{hint} Expected a kerazoo preset or a Hugging Face "
        f"folder (both have a config.json), or Google's BERT (bert_config.json and "
        "bert_model.ckpt.index)."
    )
