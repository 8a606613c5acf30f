"""Reversible rules between the tensor names of a checkpoint and the variable paths of a model.

One table of rules serves both directions, so what is read can be written back bit for bit.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

LAYER = "{i}"


@dataclass(frozen=True)
class Rule:
    """One tensor (or one tensor per layer) of a checkpoint and the variable that holds it.

    Args:
        source: name in the checkpoint; `{i}` stands for the layer number.
        target: `variable.path` in the model; `{i}` stands for the layer number.
        transpose: whether the checkpoint stores the matrix with its two axes swapped.
        fields: for every axis of the target, the `config.json` field that decides its size
            (used by error messages).
    """

    source: str
    target: str
    transpose: bool = False
    fields: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that both names have a layer number, or neither."""
        if (LAYER in self.source) != (LAYER in self.target):
            raise ValueError(
                "Both names of a rule need the layer number {i}, or neither. "
                f"Received: source={self.source!r}, target={self.target!r}"
            )


class NameMap:
    """A table of `Rule`s that translates names in both directions.

    Args:
        rules: the rules; no two may share a source or a target.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Index the rules by both names."""
        self.rules = tuple(rules)
        self._by_source = _index(self.rules, "source")
        self._by_target = _index(self.rules, "target")

    def __add__(self, other: "NameMap") -> "NameMap":
        """Return the table that holds the rules of both."""
        return NameMap(self.rules + other.rules)

    def to_target(self, source_name: str) -> str | None:
        """Return the variable path for a checkpoint name, or None if no rule knows it."""
        return _translate(source_name, self._by_source, "target")

    def to_source(self, target_name: str) -> str | None:
        """Return the checkpoint name for a variable path, or None if no rule knows it."""
        return _translate(target_name, self._by_target, "source")

    def rule_for_target(self, target_name: str) -> Rule | None:
        """Return the rule that covers a variable path, or None."""
        return self._by_target.get(_split_layer(target_name)[0])


def _split_layer(name: str) -> tuple[str, str]:
    """Replace the layer number in a name by `{i}`; return the pattern and the number."""
    found = re.search(r"(?<=layer[._])(0|[1-9]\d*)(?=[./])", name)
    if found is None:
        return name, ""
    return name[: found.start()] + LAYER + name[found.end() :], found.group()


def _index(rules: tuple[Rule, ...], side: str) -> dict[str, Rule]:
    table: dict[str, Rule] = {}
    for rule in rules:
        name = getattr(rule, side)
        if name in table:
            raise ValueError(f"Two rules share the {side} name. Received: {side}={name!r}")
        table[name] = rule
    return table


def _translate(name: str, table: dict[str, Rule], side: str) -> str | None:
    pattern, layer = _split_layer(name)
    rule = table.get(pattern)
    if rule is None:
        return None
    return str(getattr(rule, side)).replace(LAYER, layer)
