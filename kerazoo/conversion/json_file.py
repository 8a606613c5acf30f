"""One JSON object of a checkpoint folder, with errors that name the file."""

import json
from pathlib import Path
from typing import Any


def read_json_object(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file.

    Raises:
        FileNotFoundError: if the file does not exist.
        ValueError: if the file is not one JSON object in UTF-8.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path.name} in {path.parent}.")
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 text: {error.reason}.") from error
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path}, line {error.lineno}: not valid JSON ({error.msg}). Is the file truncated?"
        ) from error
    if not isinstance(content, dict):
        raise ValueError(f"{path} must hold one JSON object. Received: {type(content).__name__}")
    return content
