"""Answers from an exported SavedModel, computed by TensorFlow and TensorFlow Text alone."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
import tensorflow_text  # noqa: F401 (registers the operations of the tokenizer)

from kerazoo.axes import LABEL, TEXT, TEXT_PAIR
from kerazoo.export.version_folder import find_version_folder
from kerazoo.training.predictor import Answer

_SIGNATURE = "serving_default"
_OUTPUTS = {LABEL, "score", "probabilities"}
_DESCRIPTION = Path("assets.extra") / "kerazoo.json"


class SavedModelPredictor:
    """An exported `TextClassifier` as a `kerazoo.training.predictor.Predictor`.

    Args:
        path: a version folder, or a base folder of versions, of which the highest is taken.

    Raises:
        FileNotFoundError: if there is no SavedModel.
        ValueError: if the SavedModel does not turn texts into labels.
    """

    def __init__(self, path: str | Path) -> None:
        """Load the SavedModel and look at its signature."""
        self.folder = find_version_folder(path)
        # The loaded object owns the variables; the function alone would not keep them alive.
        self._loaded = _load(self.folder)
        self._function = self._loaded.signatures.get(_SIGNATURE)
        inputs = (
            set() if self._function is None else set(self._function.structured_input_signature[1])
        )
        outputs = set() if self._function is None else set(self._function.structured_outputs)
        if not (inputs in ({TEXT}, {TEXT, TEXT_PAIR}) and outputs >= _OUTPUTS):
            raise ValueError(
                f"{self.folder} does not turn texts into labels: its signature {_SIGNATURE} must "
                f"take `{TEXT}` and give `label`, `score` and `probabilities`. "
                f"Received: inputs={sorted(inputs)}, outputs={sorted(outputs)}"
            )
        self.pairs: bool | None = TEXT_PAIR in inputs
        # The graph truncates by itself and does not tell.
        self.load_note: str | None = None
        self.sequence_length: int | None = None
        self.truncated = 0
        self.labels = self._label_names()

    def answer(self, columns: Mapping[str, Sequence[str]], batch_size: int) -> list[Answer]:
        """Answer each row; see `Predictor`."""
        answers: list[Answer] = []
        for start in range(0, len(columns[TEXT]), batch_size):
            batch = {name: texts[start : start + batch_size] for name, texts in columns.items()}
            outputs = self._call(batch)
            for label, score, row in zip(
                outputs[LABEL], outputs["score"], outputs["probabilities"], strict=True
            ):
                probabilities = dict(zip(self.labels, map(float, row), strict=True))
                answers.append(
                    {
                        "label": label.decode(),
                        "score": float(score),
                        "probabilities": probabilities,
                    }
                )
        return answers

    def _call(self, columns: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Call the signature; the outputs come back as arrays."""
        texts = {
            name: tf.constant(list(values), dtype=tf.string, shape=(len(values),))
            for name, values in columns.items()
        }
        return {name: value.numpy() for name, value in self._function(**texts).items()}

    def _label_names(self) -> list[str]:
        """Read the label names from the export's description."""
        file = self.folder / _DESCRIPTION
        try:
            return [str(label) for label in json.loads(file.read_text(encoding="utf-8"))["labels"]]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(
                f"The SavedModel's label names cannot be read from {file}. Export it again with "
                "kerazoo export."
            ) from error


def _load(folder: Path) -> Any:
    """Load a SavedModel, or say which folder is damaged; `kerazoo verify` says what is."""
    try:
        return tf.saved_model.load(str(folder))
    except (OSError, RuntimeError, ValueError, tf.errors.OpError) as error:
        raise ValueError(
            f"{folder} cannot be loaded; it is damaged or incomplete. See what is wrong with "
            f"kerazoo verify, or export the model again. Received: {str(error).splitlines()[0]}"
        ) from error
