"""What a person reads when something failed."""

import re

import click

DEBUG = "kerazoo.debug"
"""Key of click's `ctx.meta` that says whether `--debug` was given."""

_FRAMEWORK_PACKAGES = {
    "jax": "pip install 'kerazoo[jax]'",
    "torch": "pip install 'kerazoo[torch]'",
    "tensorflow_text": "pip install tensorflow-text",
}


_NO_SPACE = "No space left on device"
_IN_USER_CODE = re.compile(r"^ *[A-Za-z]+Error: (.+)", re.MULTILINE)
_IN_A_LAYER = re.compile(
    r"Exception encountered when calling .*?\n\n(?:\x1b\[1m)?(.+?)(?:\x1b\[0m)?\n\nArguments",
    re.DOTALL,
)


class Failure(click.ClickException):
    """A failure that has been put into a sentence; exit code 1."""

    exit_code = 1


def one_sentence(error: Exception) -> str:
    """Return what went wrong, without a traceback.

    An error that kerazoo raises says all that is needed. One that comes from elsewhere gets its
    type in front and is cut after its first paragraph.
    """
    if isinstance(error, ModuleNotFoundError) and error.name in _FRAMEWORK_PACKAGES:
        return f"{error.name} is not installed: {_FRAMEWORK_PACKAGES[error.name]}"
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        return f"{where}{error.strerror}."
    message = str(error).strip()
    if _NO_SPACE in message:
        # HDF5, safetensors and TensorFlow each wrap it in lines of their own.
        return f"{_NO_SPACE}. Free some, or write to another place."
    if message.startswith("in user code:") and (causes := _IN_USER_CODE.findall(message)):
        return causes[-1]
    if wrapped := _IN_A_LAYER.match(message):
        return wrapped[1]
    if isinstance(error, ModuleNotFoundError) and error.name is None:
        return message  # kerazoo's own, which says how to install it
    if isinstance(error, (ValueError, OSError)) and message and "\n\n" not in message:
        return message
    first = message.split("\n\n")[0].strip()
    return f"{type(error).__name__}: {first}\n(--debug shows where it happened.)"
