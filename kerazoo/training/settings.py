"""Settings of a run that come from a file, from options and from defaults. Imports no framework."""

import dataclasses
import difflib
import json
import math
from pathlib import Path
from typing import Any, Self

from kerazoo.checks import check_divisible, check_positive

PRECISIONS = ("float32", "mixed_bfloat16")
AUTO = "auto"
NO_STRATEGY = "none"
MIRRORED = "mirrored"
TPU = "tpu"
MULTI_WORKER = "multi_worker"
DATA_PARALLEL = "data_parallel"
MODEL_PARALLEL = "model_parallel"
STRATEGIES = (AUTO, NO_STRATEGY, MIRRORED, TPU, MULTI_WORKER, DATA_PARALLEL, MODEL_PARALLEL)


@dataclasses.dataclass(frozen=True)
class Settings:
    """Base of the settings of a training run.

    Subclasses are frozen dataclasses whose fields are numbers, strings, booleans, or one of these
    or None. Their `__post_init__` calls this one first, which checks the types.

    Raises:
        ValueError: if a value is not of its field's type.
    """

    # No annotations: fields of the subclass.
    warmup = 0.0
    batch_size = 1
    accumulate = 1

    def __post_init__(self) -> None:
        """Check the types."""
        for field in dataclasses.fields(self):
            _check_type(field.name, getattr(self, field.name), field.type)

    def check_not_negative(self, name: str) -> None:
        """Raise ValueError if a field is below zero; None is not."""
        value = getattr(self, name)
        if value is not None and value < 0:
            raise ValueError(f"`{name}` must not be negative. Received: {name}={value!r}")

    def check_batch_size(self) -> None:
        """Raise ValueError if a batch has no rows, or cannot be computed in as many parts."""
        check_positive("batch_size", self.batch_size)
        check_positive("accumulate", self.accumulate)
        check_divisible("batch_size", self.batch_size, "accumulate", self.accumulate)

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
    if isinstance(value, int) and value >= 2**31:
        raise ValueError(f"`{name}` must be below 2**31. Received: {name}={value!r}")


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
