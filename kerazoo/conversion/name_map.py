"""Reversible rules between the tensor names of a checkpoint and the variable paths of a model.

One table of rules serves both directions, so what is read can be written back bit for bit. A tensor
may hold several variables side by side (GPT's query, key and value): then each has a rule.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

LAYER = "{i}"


@dataclass(frozen=True)
class Rule:
    """One tensor (or one tensor per layer) of a checkpoint and the variable that it fills.

    Args:
        source: name in the checkpoint; `{i}` stands for the layer number.
        target: `variable.path` in the model; `{i}` stands for the layer number.
        transpose: whether the checkpoint stores the matrix with its two axes swapped.
        fields: for every axis of the target, the `config.json` field that decides its size
            (used by error messages).
        part: `(number, count)` if the variable is only this one, counted from 0, of `count` equal
            parts of the tensor's last axis; None if it is the whole tensor.
    """

    source: str
    target: str
    transpose: bool = False
    fields: tuple[str, ...] = ()
    part: tuple[int, int] | None = None

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
        rules: the rules; no two may share a target, or a source unless they are its parts.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        """Index the rules by both names."""
        self.rules = tuple(rules)
        self._by_target: dict[str, Rule] = {}
        self._by_source: dict[str, list[Rule]] = {}
        for rule in self.rules:
            if rule.target in self._by_target:
                raise ValueError(f"Two rules share the target name. Received: {rule.target!r}")
            self._by_target[rule.target] = rule
            self._by_source.setdefault(rule.source, []).append(rule)
        for source, sharing in self._by_source.items():
            _check_parts(source, sharing)

    def __add__(self, other: "NameMap") -> "NameMap":
        """Return the table that holds the rules of both."""
        return NameMap(self.rules + other.rules)

    def to_targets(self, source_name: str) -> tuple[str, ...]:
        """Return the paths of the variables that a tensor fills; () if no rule knows it."""
        pattern, layer = split_layer(source_name)
        rules = self._by_source.get(pattern, ())
        return tuple(rule.target.replace(LAYER, layer) for rule in rules)

    def to_source(self, target_name: str) -> str | None:
        """Return the checkpoint name for a variable path, or None if no rule knows it."""
        pattern, layer = split_layer(target_name)
        rule = self._by_target.get(pattern)
        return None if rule is None else rule.source.replace(LAYER, layer)

    def rule_for_target(self, target_name: str) -> Rule | None:
        """Return the rule that covers a variable path, or None."""
        return self._by_target.get(split_layer(target_name)[0])

    def first_words(self) -> frozenset[str]:
        """Return what the names in the checkpoint begin with, up to the first full stop."""
        return frozenset(rule.source.split(".")[0] for rule in self.rules)


def split_layer(name: str) -> tuple[str, str]:
    """Replace the layer number in a name by `{i}`; return the pattern and the number.

    It stands behind `layer.`, `layer_` or, at the beginning, `h.`.
    """
    found = re.search(r"(?:(?<=layer[._])|(?<=^h\.))(0|[1-9]\d*)(?=[./])", name)
    if found is None:
        return name, ""
    return name[: found.start()] + LAYER + name[found.end() :], found.group()


def _check_parts(source: str, rules: list[Rule]) -> None:
    """Raise unless the rules of one tensor are one rule for all of it, or all its parts."""
    parts = [rule.part or (0, 1) for rule in rules]
    if parts != [(number, len(rules)) for number in range(len(rules))]:
        raise ValueError(
            f"Two rules share the source name and are not its parts in order. Received: {source!r}"
        )
