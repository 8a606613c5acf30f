"""JSON that every reader takes: a number that is not finite becomes null."""

import json
import math
from typing import Any


def plain_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON.

    Args:
        value: dicts with string keys, lists, tuples, strings, numbers, booleans and None.
        indent: int, spaces of a level; None writes one line.
    """
    return json.dumps(_finite(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
