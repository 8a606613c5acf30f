"""What a person reads when something failed."""

import click

DEBUG = "kerazoo.debug"
"""Key of click's `ctx.meta` that says whether `--debug` was given."""

_FRAMEWORK_PACKAGES = {
    "jax": "pip install 'kerazoo[jax]'",
    "torch": "pip install 'kerazoo[torch]'",
    "tensorflow_text": "pip install tensorflow-text",
}


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
    if isinstance(error, (ValueError, OSError)) and message and "\n\n" not in message:
        return message
    first = message.split("\n\n")[0].strip()
    return f"{type(error).__name__}: {first}\n(--debug shows where it happened.)"
