"""The folder layout a model server reads: ``<base>/<integer>/saved_model.pb``."""

from pathlib import Path

SAVED_MODEL_FILE = "saved_model.pb"


def is_version_name(name: str) -> bool:
    """Returns whether a server takes a folder of this name for a version (``1``, ``00000010``)."""
    return name.isascii() and name.isdigit()


def find_version_folder(path: str | Path) -> Path:
    """Finds the version folder a server would load from a path.

    Args:
        path: A version folder (it holds ``saved_model.pb``) or a base folder, of which a server
            loads the highest numeric version by default.

    Returns:
        The version folder.

    Raises:
        FileNotFoundError: If there is nothing at the path.
        ValueError: If the path is neither a SavedModel nor a folder of numbered SavedModels.
    """
    folder = Path(path)
    if not folder.exists():
        raise FileNotFoundError(
            f"There is no SavedModel to look at: the folder does not exist. Received: path={path}"
        )
    if not folder.is_dir():
        raise ValueError(
            "A SavedModel is a folder, but this is a file; name the folder that holds "
            f"{SAVED_MODEL_FILE}, or the base folder of its versions. Received: path={path}"
        )
    if (folder / SAVED_MODEL_FILE).is_file():
        return folder
    versions = [
        child for child in folder.iterdir() if child.is_dir() and is_version_name(child.name)
    ]
    if not versions:
        raise ValueError(
            f"The folder is not a SavedModel: it holds neither {SAVED_MODEL_FILE} nor a folder "
            f"named by a whole number; export a task to it first. Received: path={path}"
        )
    highest = max(versions, key=lambda child: int(child.name))
    if not (highest / SAVED_MODEL_FILE).is_file():
        raise ValueError(
            f"A server loads the highest version, {highest.name}, and that folder has no "
            f"{SAVED_MODEL_FILE}; remove it or export again. Received: path={path}"
        )
    return highest
