"""Something that answers rows of text: a preset or a SavedModel, behind one interface."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from kerazoo.axes import TEXT, TEXT_PAIR
from kerazoo.conversion.source import KERAZOO, open_checkpoint
from kerazoo.export.description import read_description
from kerazoo.export.version_folder import (
    SAVED_MODEL_FILE,
    find_version_folder,
    is_version_name,
)
from kerazoo.tasks.registry import saved_task_name
from kerazoo.tasks.truncation import truncated_texts
from kerazoo.training.generation_settings import GenerationSettings

Answer = dict[str, Any]
"""What a task says of a row, fit for JSON: `label`, `score` and `probabilities` of a classifier."""


class Predictor(Protocol):
    """Answers columns of texts.

    Attributes:
        task_name: what it was trained for.
        labels: the label names in the order of the classes; none if it gives no labels.
        pairs: whether texts come as pairs; None if the model does not say, as Hugging Face's.
        load_note: what a person should know of how the model was loaded; None if nothing.
        sequence_length: tokens of a row; None if the model does not say.
        truncated: how many of the rows answered so far were longer than that.
    """

    task_name: str
    labels: list[str]
    pairs: bool | None
    load_note: str | None
    sequence_length: int | None
    truncated: int

    def answer(self, columns: Mapping[str, Sequence[Any]], batch_size: int) -> list[Answer]:
        """Answer each row.

        Args:
            columns: the input columns of the task's form, lists of one length.
            batch_size: int, rows computed together.
        """


def is_saved_model(path: str | Path) -> bool:
    """Return whether `path` is a SavedModel or a folder of numbered SavedModels."""
    folder = Path(path)
    if (folder / SAVED_MODEL_FILE).is_file():
        return True
    return folder.is_dir() and any(
        is_version_name(child.name) and (child / SAVED_MODEL_FILE).is_file()
        for child in folder.iterdir()
    )


def trained_task(model: str | Path) -> str:
    """Return the name of the task that a model was trained for, without loading it.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if it is no model, or one that was never trained for a task.
    """
    if is_saved_model(model):
        return str(read_description(find_version_folder(model))["task"])
    source = open_checkpoint(model)
    if source.format == KERAZOO:
        name = saved_task_name(source.folder)
    else:
        name = source.task_name()
    if name is None:
        raise ValueError(
            f"{model} was not trained for a task. Train one: kerazoo finetune TASK --preset …"
        )
    return name


def open_predictor(model: str | Path, generation: GenerationSettings | None = None) -> Predictor:
    """Load what is at `model`.

    A SavedModel is loaded with TensorFlow and TensorFlow Text alone.

    Args:
        model: a kerazoo preset, a Hugging Face folder or `hf://` handle with a trained task, a
            SavedModel, or a base folder of versions (the highest is taken).
        generation: how a language model continues texts; None is the defaults.

    Raises:
        FileNotFoundError: if there is no such folder.
        ValueError: if it is no model, or one that was never trained for a task, or `generation` is
            given for a model that generates no text.
    """
    if generation is not None and (task_name := trained_task(model)) != "causal-lm":
        raise ValueError(
            f"{model} was trained for {task_name} and generates no text, so it takes no settings "
            f"of a continuation. Received: {generation}"
        )
    if is_saved_model(model):
        from kerazoo.training.saved_model_predictor import SavedModelPredictor

        return SavedModelPredictor(model, generation)
    from kerazoo.training.preset_predictor import PresetPredictor

    return PresetPredictor.from_preset(model, generation)


def truncation_note(predictor: Predictor, rows: int) -> str | None:
    """Return a sentence on the rows that were truncated; None if there were none."""
    if predictor.sequence_length is None or not predictor.truncated:
        return None
    return f"{truncated_texts(predictor.truncated, rows, predictor.sequence_length)}."


def check_texts(columns: Mapping[str, Sequence[str]], pairs: bool | None, where: str) -> None:
    """Raise ValueError if a model for pairs gets single texts or the other way round."""
    if pairs is None:
        return
    if pairs and TEXT_PAIR not in columns:
        raise ValueError(
            f"The model compares two texts, and {where} has no `{TEXT_PAIR}`. Give every row one."
        )
    if not pairs and TEXT_PAIR in columns:
        raise ValueError(
            f"The model reads one text, and {where} has a `{TEXT_PAIR}`. Remove it, or join it to "
            f"the `{TEXT}`."
        )
