"""Loads the tensors of a checkpoint into the variables of a model."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kerazoo.conversion.name_map import NameMap, Rule
from kerazoo.conversion.report import LoadReport
from kerazoo.conversion.stored_tensor import StoredTensor


@dataclass(frozen=True)
class Checkpoint:
    """What `load_weights` needs to know of a checkpoint.

    Args:
        folder: where it lies.
        tensors: the tensors by their canonical names (no prefix, no old spellings).
        backbone_names: the rules of the backbone's weights; each of them must be there.
        head_names: the rules of the head weights, which may be absent.
        optional_targets: variable paths of the backbone that may be absent, all together.
        refused: for each variable path that must not be loaded, a sentence that says why.
    """

    folder: Path
    tensors: Mapping[str, StoredTensor]
    backbone_names: NameMap
    head_names: NameMap
    optional_targets: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)


_Plan = list[tuple[Any, StoredTensor, Rule]]


def load_weights(
    variables: Iterable[Any], checkpoint: Checkpoint, with_head: bool = True
) -> LoadReport:
    """Assign every variable that the checkpoint knows, one tensor in memory at a time.

    Everything is checked before the first variable is changed.

    Args:
        variables: Keras variables (anything with `path`, `shape`, `dtype` and `assign`).
        checkpoint: the opened checkpoint.
        with_head: whether head weights are loaded too; if not, they keep their random values.

    Returns:
        The report of what was loaded, missing and unused.

    Raises:
        ValueError: if a backbone weight is missing, a shape differs, nothing matches, or the
            checkpoint computes something else with a weight.
    """
    plan: _Plan = []
    missing: list[str] = []
    for variable in variables:
        if with_head and variable.path in checkpoint.refused:
            raise ValueError(checkpoint.refused[variable.path])
        tensor, rule = _find(variable.path, checkpoint, with_head)
        if tensor is None or rule is None:
            missing.append(variable.path)
        else:
            plan.append((variable, tensor, rule))
    _check_missing(missing, plan, checkpoint)
    for variable, tensor, rule in plan:
        _check_fits(variable, tensor, rule)
    for tensor, filled in _by_tensor(plan):
        values = tensor.read()
        for variable, rule in filled:
            variable.assign(_of_rule(values, rule))
    used = {tensor.name for _, tensor, _ in plan}
    return LoadReport(
        loaded=tuple(variable.path for variable, _, _ in plan),
        missing=tuple(missing),
        unused=tuple(t.name for t in checkpoint.tensors.values() if t.name not in used),
        source=str(checkpoint.folder),
    )


def model_variables(model: Any) -> Iterator[Any]:
    """Yield the weights of a model: no metric states, no states of random generators."""
    variables = model.weights if hasattr(model, "weights") else model.variables
    for variable in variables:
        if not variable.path.endswith("seed_generator_state"):
            yield variable


def _find(
    path: str, checkpoint: Checkpoint, with_head: bool
) -> tuple[StoredTensor | None, Rule | None]:
    """Return the tensor for a variable and the rule that connects them, if there are such."""
    for names, wanted in ((checkpoint.backbone_names, True), (checkpoint.head_names, with_head)):
        source = names.to_source(path) if wanted else None
        if source is not None and source in checkpoint.tensors:
            return checkpoint.tensors[source], names.rule_for_target(path)
    return None, None


def _check_missing(missing: list[str], plan: _Plan, checkpoint: Checkpoint) -> None:
    """Raise if a weight that every checkpoint of the family must hold is not there."""
    if not plan:
        found = ", ".join(sorted(t.name for t in checkpoint.tensors.values())[:4]) or "no tensors"
        raise ValueError(
            f"No tensor in {checkpoint.folder} belongs to this model, so nothing was loaded. "
            f"Is it a checkpoint of another architecture? Found: {found}, …"
        )
    optional = checkpoint.optional_targets
    if not set(optional) <= set(missing):
        optional = ()
    for path in missing:
        source = checkpoint.backbone_names.to_source(path)
        if source is not None and path not in optional:
            raise ValueError(
                f"The checkpoint {checkpoint.folder} lacks the backbone weight {source!r} "
                f"(variable {path!r}). The file is damaged or incomplete, or its config asks for "
                "more layers than it holds."
            )


def _check_fits(variable: Any, tensor: StoredTensor, rule: Rule) -> None:
    """Raise unless the tensor has the variable's shape and the variable holds floats."""
    expected = tuple(variable.shape)
    stored = tensor.shape[::-1] if rule.transpose else tensor.shape
    inside = ""
    if rule.part is not None:
        number, count = rule.part
        expected = (*expected[:-1], expected[-1] * count)
        inside = f", which is part {number + 1} of {count} of it"
    if stored != expected:
        axes = range(min(len(stored), len(expected), len(rule.fields)))
        fields = [rule.fields[axis] for axis in axes if stored[axis] != expected[axis]]
        decided = f" {' and '.join(dict.fromkeys(fields))} decides this size." if fields else ""
        raise ValueError(
            f"The tensor {tensor.name!r} in {tensor.file} does not fit the variable "
            f"{variable.path!r}{inside}.{decided} Received: shape {stored}, expected {expected}"
        )
    if str(variable.dtype).startswith(("int", "uint")):
        raise ValueError(
            f"The model is quantized, so float weights cannot be loaded into it; load first, then "
            f"quantize. Received: {variable.path} of dtype {variable.dtype}"
        )


def _by_tensor(plan: _Plan) -> Iterator[tuple[StoredTensor, list[tuple[Any, Rule]]]]:
    """Yield each tensor, so that it is read once, with the variables that it fills."""
    filled: dict[str, list[tuple[Any, Rule]]] = {}
    tensors: dict[str, StoredTensor] = {}
    for variable, tensor, rule in plan:
        tensors[tensor.name] = tensor
        filled.setdefault(tensor.name, []).append((variable, rule))
    for name, tensor in tensors.items():
        yield tensor, filled[name]


def _of_rule(values: np.ndarray, rule: Rule) -> np.ndarray:
    """Return what a variable takes of a tensor's values."""
    values = values.T if rule.transpose else values
    if rule.part is not None:
        number, count = rule.part
        values = np.split(values, count, axis=-1)[number]
    return np.ascontiguousarray(values)
