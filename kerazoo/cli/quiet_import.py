"""Import TensorFlow without the notices that its C++ libraries print while they start."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

_STANDARD_ERROR = 2


class QuietImport(MetaPathFinder):
    """Finds one module as usual, and mutes standard error while it is first executed.

    TensorFlow prints notices about missing GPUs before it reads TF_CPP_MIN_LOG_LEVEL. The muted
    text is printed after all if the import fails.

    Args:
        module: the module's name.
        debug: says whether to mute nothing; asked when the import begins.
    """

    def __init__(self, module: str, debug: Callable[[], bool]) -> None:
        """Remember what to mute."""
        self.module = module
        self.debug = debug

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the module's own spec with a muted loader; None for all other modules."""
        if fullname != self.module:
            return None
        # A spec may be asked for without an import, so the finder stays until the block ends.
        spec = PathFinder.find_spec(fullname, path)
        if spec is None or spec.loader is None:
            return spec
        execute = spec.loader.exec_module

        def execute_muted(module: ModuleType) -> None:
            with _muted(self.debug()):
                execute(module)

        spec.loader.exec_module = execute_muted  # type: ignore[method-assign]
        return spec


@contextmanager
def quiet_import(module: str, debug: Callable[[], bool]) -> Iterator[None]:
    """Mute the import of a module if it happens in this block."""
    finder = QuietImport(module, debug)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


@contextmanager
def _muted(debug: bool) -> Iterator[None]:
    """Keep what is written to standard error, also by C++, and print it only after an error."""
    if debug:
        yield
        return
    sys.stderr.flush()
    original = os.dup(_STANDARD_ERROR)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), _STANDARD_ERROR)
        try:
            yield
        except Exception:
            sys.stderr.flush()
            os.dup2(original, _STANDARD_ERROR)
            kept.seek(0)
            os.write(_STANDARD_ERROR, kept.read())
            raise
        finally:
            os.dup2(original, _STANDARD_ERROR)
            os.close(original)
