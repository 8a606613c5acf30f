"""Look at the weights of a SavedModel: is each of them written once?"""

import hashlib
from collections import defaultdict
from pathlib import Path

import numpy as np
import tensorflow as tf

from kerazoo.export.verification_report import Check, Status

VARIABLES = Path("variables") / "variables"
# Smaller arrays (a bias, a norm's gain) can be equal by chance or by their initial values.
SMALLEST_WEIGHT = 1024


def duplicate_weights(version_dir: str | Path) -> list[list[str]]:
    """Finds weights that are written more than once.

    Two arrays of at least 1,024 elements with equal type, shape and values are the same weight,
    unless all their elements are equal, as in a weight of zeros.

    Args:
        version_dir: The version folder.

    Returns:
        The names in the checkpoint of each weight that occurs more than once, a list each.
    """
    reader = tf.train.load_checkpoint(str(Path(version_dir) / VARIABLES))
    names: dict[tuple[str, tuple[int, ...], bytes], list[str]] = defaultdict(list)
    for name in sorted(reader.get_variable_to_shape_map()):
        array = np.asarray(reader.get_tensor(name))
        if array.dtype == object or array.size < SMALLEST_WEIGHT or _is_constant(array):
            continue
        digest = hashlib.blake2b(np.ascontiguousarray(array).tobytes()).digest()
        names[str(array.dtype), array.shape, digest].append(name)
    return [group for group in names.values() if len(group) > 1]


def _is_constant(array: np.ndarray) -> bool:
    return bool((array == array.flat[0]).all())


def _bytes_of(version_dir: Path, names: list[str]) -> int:
    reader = tf.train.load_checkpoint(str(version_dir / VARIABLES))
    shapes, types = reader.get_variable_to_shape_map(), reader.get_variable_to_dtype_map()
    return sum(int(np.prod(shapes[name])) * types[name].size for name in names)


def check_weights(version_dir: Path) -> Check:
    """Checks that the folder holds its weights, and each of them once.

    Args:
        version_dir: The version folder.

    Returns:
        The check; weights written twice are a warning, as a server loads them (twice).
    """
    if not (version_dir / f"{VARIABLES}.index").is_file():
        return Check("weights", Status.OK, "The model has no variables.")
    try:
        duplicates = duplicate_weights(version_dir)
    except (ValueError, tf.errors.OpError) as error:
        message = f"The files under variables/ cannot be read; export again. ({_first_line(error)})"
        return Check("weights", Status.FAILED, message)
    size = sum(file.stat().st_size for file in (version_dir / VARIABLES.parent).iterdir())
    if not duplicates:
        return Check("weights", Status.OK, f"Each weight is written once ({size:,} bytes).")
    extra = sum(_bytes_of(version_dir, group[1:]) for group in duplicates)
    message = (
        f"{extra:,} of {size:,} bytes are weights written again, and a server loads both: "
        f"{' = '.join(duplicates[0])}. Do not track the model in the archive or module that is "
        "saved, only tokenizers and tables; the traced function finds the weights."
    )
    return Check("weights", Status.WARNING, message)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
