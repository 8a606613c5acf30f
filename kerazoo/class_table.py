"""Classes by name that are imported when they are asked for. Imports no framework."""

import importlib
from collections.abc import Mapping
from typing import Any

from kerazoo.checks import check_one_of

ClassTable = Mapping[str, tuple[str, str]]
"""Name: module and class."""


def class_named(argument: str, name: str, table: ClassTable) -> Any:
    """Return the class that a table lists under a name.

    Args:
        argument: what the name is called, for the message.
        name: a key of the table.
        table: modules and classes by name.

    Raises:
        ValueError: for a name that is not in the table.
    """
    check_one_of(argument, name, table)
    module, class_name = table[name]
    return getattr(importlib.import_module(module), class_name)
