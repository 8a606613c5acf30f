"""The families and the classes of their backbones. Imports no framework."""

from typing import Any

from kerazoo.class_table import ClassTable, class_named

BACKBONES: ClassTable = {
    "bert": ("kerazoo.backbones.bert", "BertBackbone"),
    "gpt": ("kerazoo.backbones.gpt", "GPTBackbone"),
}
"""Family: module and class."""


def backbone_class(family: str) -> Any:
    """Return the class of a family's backbone.

    Args:
        family: a key of `BACKBONES`.

    Raises:
        ValueError: for an unknown family.
    """
    return class_named("family", family, BACKBONES)
