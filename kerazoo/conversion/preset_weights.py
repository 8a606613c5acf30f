"""Whether the weight files of a preset are there and whole, said before KerasHub reads them."""

from pathlib import Path

import h5py

BACKBONE_FILE = "model.weights.h5"
_SHARDS_FILE = "model.weights.json"


def check_preset_weights(folder: Path, name: str = BACKBONE_FILE) -> None:
    """Raise an error that names the file, which the errors of KerasHub and HDF5 do not.

    Args:
        folder: the preset.
        name: the weight file; a backbone's may be in shards, which are left to KerasHub.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if it is truncated or not an HDF5 file.
    """
    file = folder / name
    if not file.exists():
        if name == BACKBONE_FILE and (folder / _SHARDS_FILE).exists():
            return
        raise FileNotFoundError(
            f"There is no {name} in {folder}, so its weights are lost. Copy or save it again."
        )
    try:
        h5py.File(file, "r").close()
    except OSError as error:
        raise ValueError(
            f"{file} is truncated or not an HDF5 file: {error}. Copy or save it again."
        ) from error
