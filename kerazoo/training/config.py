"""The settings of a fine-tuning run. Importing this imports no framework."""

import dataclasses
import difflib
import json
import math
from pathlib import Path
from typing import Any, Self

from kerazoo.checks import check_one_of, check_positive, check_rate

PRECISIONS = ("float32", "mixed_bfloat16")
CLASS_WEIGHTS = ("balanced",)
POOLINGS = ("pooled", "mean")
UNUSED_SETTINGS: dict[str, frozenset[str]] = {
    "text-classification": frozenset({"regression"}),
    "text-similarity": frozenset({"class_weight", "pooling"}),
    "multiple-choice": frozenset({"class_weight", "pooling", "regression"}),
    "causal-lm": frozenset(
        {"class_weight", "pooling", "regression", "lm_loss_weight", "freeze_backbone"}
    ),
}
"""For each task the settings that mean nothing to it."""


@dataclasses.dataclass(frozen=True)
class FinetuneConfig:
    """Every setting of a fine-tuning run; the defaults stand here and nowhere else.

    Args:
        epochs: int, passes over the training rows.
        batch_size: int, rows of one step.
        learning_rate: float, the highest rate of the schedule; None is 5e-5 where the whole model
            trains (Devlin et al. 2018, appendix A.3), 5e-4 with LoRA, 1e-3 where only the head
            trains.
        sequence_length: int, tokens of a row, special tokens included; longer texts are
            truncated. None is 256, or the checkpoint's own limit if that is lower.
        precision: "float32" or "mixed_bfloat16".
        weight_decay: float, decoupled weight decay (Loshchilov & Hutter 2017); biases and layer
            norms are left out.
        warmup: float, how long the rate rises: a share of all steps if below 1, else steps.
        clip_norm: float, the longest gradient over all weights together; 0 is no limit.
        pooling: "pooled", the backbone's own vector ([CLS] for BERT), or "mean", the mean of all
            states, for sentence encoders such as MiniLM. None is what the checkpoint's task had,
            else "pooled".
        freeze_backbone: bool, train the head alone.
        lora_rank: int, rank of LoRA updates (Hu et al. 2021); 0 trains the weights themselves.
        lm_loss_weight: float, λ of the language model loss beside that of the task (Radford et al.
            2018, equation 5), on GPT; None is 0.5 there, and 0 is none.
        regression: bool, learn `label` as a score; None does so if a label has a fraction.
        class_weight: "balanced" weighs each row by rows / (labels * rows of its label); None
            weighs all rows alike.
        validation_fraction: float, share of the training rows that is held out if there is no
            validation file.
        seed: int, seed of the new weights, the order of the rows, dropout and the split.

    Raises:
        ValueError: if a value is out of range or two of them do not fit together.
    """

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float | None = None
    sequence_length: int | None = None
    precision: str = "float32"
    weight_decay: float = 0.01
    warmup: float = 0.1
    clip_norm: float = 1.0
    pooling: str | None = None
    freeze_backbone: bool = False
    lora_rank: int = 0
    lm_loss_weight: float | None = None
    regression: bool | None = None
    class_weight: str | None = None
    validation_fraction: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        """Check the values."""
        for field in dataclasses.fields(self):
            _check_type(field.name, getattr(self, field.name), field.type)
        for name in ("epochs", "batch_size", "validation_fraction"):
            check_positive(name, getattr(self, name))
        for name in ("learning_rate", "sequence_length"):
            if getattr(self, name) is not None:
                check_positive(name, getattr(self, name))
        if self.lm_loss_weight is not None and self.lm_loss_weight < 0:
            raise ValueError(
                f"`lm_loss_weight` must not be negative. Received: lm_loss_weight="
                f"{self.lm_loss_weight!r}"
            )
        for name in ("weight_decay", "warmup", "clip_norm", "lora_rank", "seed"):
            if getattr(self, name) < 0:
                raise ValueError(
                    f"`{name}` must not be negative. Received: {name}={getattr(self, name)!r}"
                )
        check_rate("validation_fraction", self.validation_fraction)
        check_one_of("precision", self.precision, PRECISIONS)
        if self.pooling is not None:
            check_one_of("pooling", self.pooling, POOLINGS)
        if self.class_weight is not None:
            check_one_of("class_weight", self.class_weight, CLASS_WEIGHTS)
        if self.freeze_backbone and self.lora_rank:
            raise ValueError(
                "`freeze_backbone` and `lora_rank` exclude each other: LoRA trains small updates "
                f"of the backbone. Received: freeze_backbone=True, lora_rank={self.lora_rank}"
            )

    @property
    def peak_learning_rate(self) -> float:
        """The highest rate of the schedule, chosen by what trains if it was not given."""
        if self.learning_rate is not None:
            return self.learning_rate
        if self.freeze_backbone:
            return 1e-3
        return 5e-4 if self.lora_rank else 5e-5

    def row_length(self, limit: int) -> int:
        """Return the tokens of a row for a checkpoint that reads at most `limit`.

        Raises:
            ValueError: if `sequence_length` is more than that.
        """
        if self.sequence_length is None:
            return min(256, limit)
        if self.sequence_length > limit:
            raise ValueError(
                f"The checkpoint reads at most {limit} tokens of a text. "
                f"Received: sequence_length={self.sequence_length}"
            )
        return self.sequence_length

    def warmup_steps(self, total_steps: int) -> int:
        """Return how many of `total_steps` steps the rate rises."""
        steps = self.warmup * total_steps if self.warmup < 1 else self.warmup
        return min(int(steps), total_steps)

    @classmethod
    def from_file(cls, path: str | Path, **given: Any) -> Self:
        """Read settings from a YAML or JSON file.

        Args:
            path: a .yaml, .yml or .json file with field names as keys (dashes are underscores).
            **given: values that win over the file's.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if the file is no mapping, has an unknown key or an unfit value.
        """
        values = {}
        for key, value in _read_mapping(Path(path)).items():
            name = str(key).replace("-", "_")
            field = cls.__dataclass_fields__.get(name)
            if field is None:
                raise ValueError(f"{path}: {_unknown(name, list(cls.__dataclass_fields__))}")
            values[name] = _as_number(value, field.type)
        try:
            return cls(**{**values, **given})
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error

    def to_json(self) -> str:
        """Return the settings as JSON that `from_file` reads again."""
        return json.dumps(dataclasses.asdict(self), indent=2) + "\n"


def _check_type(name: str, value: Any, expected: Any) -> None:
    """Raise ValueError unless a value has its field's type; a whole number is a float too."""
    allowed, words = {
        int: ((int,), "a whole number"),
        int | None: ((int, type(None)), "a whole number"),
        float: ((int, float), "a number"),
        float | None: ((int, float, type(None)), "a number"),
        bool: ((bool,), "true or false"),
        bool | None: ((bool, type(None)), "true or false"),
        str: ((str,), "a string"),
        str | None: ((str, type(None)), "a string"),
    }[expected]
    fits = isinstance(value, allowed) and isinstance(value, bool) <= (
        expected in (bool, bool | None)
    )
    if not fits or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"`{name}` must be {words}. Received: {name}={value!r}")


def _as_number(value: Any, expected: Any) -> Any:
    """Return 2e-5 for "2e-5": YAML 1.1 takes a number without a point for a string."""
    if isinstance(value, str) and expected in (float, float | None):
        try:
            return float(value)
        except ValueError:
            return value
    return value


def _read_mapping(path: Path) -> dict[Any, Any]:
    """Read a YAML or JSON file whose top level is a mapping."""
    import yaml

    if not path.is_file():
        raise FileNotFoundError(f"There is no settings file {path}. Check the name.")
    try:
        text = path.read_text(encoding="utf-8-sig")
        content = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (ValueError, yaml.YAMLError) as error:
        kind = "JSON" if path.suffix == ".json" else "YAML"
        reason = " ".join(str(error).split())
        raise ValueError(f"{path} is not {kind}: {reason}.") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise ValueError(
            f"{path}: settings are names and values, like `epochs: 3`. "
            f"Received: {type(content).__name__}"
        )
    return content


def _unknown(name: str, known: list[str]) -> str:
    """Say that a setting is unknown, and which one may have been meant."""
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"Did you mean `{near[0]}`?" if near else f"Known: {', '.join(known)}."
    return f"there is no setting `{name}`. {hint}"
