"""The families and the classes of their backbones. Imports no framework."""

import importlib
from typing import Any

from kerazoo.checks import check_one_of

BACKBONES: dict[str, tuple[str, str]] = {
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
    check_one_of("family", family, BACKBONES)
    module, class_name = BACKBONES[family]
    return getattr(importlib.import_module(module), class_name)
