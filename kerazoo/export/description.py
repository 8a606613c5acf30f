"""What an export says of itself, for people and tools; a server ignores it."""

from pathlib import Path
from typing import Any

from kerazoo.conversion.json_file import read_json_object

DESCRIPTION_FILE = Path("assets.extra") / "kerazoo.json"
"""In a version folder: the task, its labels and the versions it was made with."""


def read_description(version_dir: Path) -> dict[str, Any]:
    """Return the description of an export: `task`, `labels`, `pairs`, ….

    Args:
        version_dir: the version folder.

    Raises:
        ValueError: if the description is missing or damaged, or names no task.
    """
    file = version_dir / DESCRIPTION_FILE
    message = (
        f"The SavedModel's description cannot be read from {file}. Export it again with "
        "kerazoo export."
    )
    try:
        description = read_json_object(file)
    except (OSError, ValueError) as error:
        raise ValueError(message) from error
    if not isinstance(description.get("task"), str):
        raise ValueError(message)
    return description
