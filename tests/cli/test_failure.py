import errno

import pytest

from kerazoo.cli.failure import Failure, one_sentence


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("a.tsv, line 3: wrong."), "a.tsv, line 3: wrong."),
        (FileNotFoundError("There is no file x."), "There is no file x."),
        (FileNotFoundError(errno.ENOENT, "No such file", "x.tsv"), "x.tsv: No such file."),
        (OSError(errno.ENOSPC, "No space left on device"), "No space left on device."),
        (ModuleNotFoundError("No module named 'jax'", name="jax"), "pip install 'kerazoo[jax]'"),
        (ModuleNotFoundError("LTP is missing: pip install 'kerazoo[ltp]'"), "LTP is missing: pip"),
        (ModuleNotFoundError("No module named 'x'", name="x"), "ModuleNotFoundError: No module"),
        (KeyError("x"), "KeyError: 'x'\n(--debug shows where it happened.)"),
        (RuntimeError("first\nsecond\n\nthird"), "RuntimeError: first\nsecond\n(--debug"),
        (ValueError("of Keras\n\nwith a page of arguments"), "ValueError: of Keras\n(--debug"),
        (ValueError(), "ValueError: \n(--debug"),
        (ValueError("in user code:\n\n  File x\n\n    ValueError: Too short.\n"), "Too short."),
        (
            ValueError(
                "Exception encountered when calling A.call().\n\n\x1b[1mToo long.\x1b[0m\n\n"
                "Arguments received by A.call():\n  • x=third"
            ),
            "Too long.",
        ),
        (OSError("cannot write (errno = 28,\n'No space left on device', buf)"), "Free some"),
        (RuntimeError("a; No space left on device [Op:SaveV2]"), "No space left on device."),
    ],
)
def test_an_error_becomes_a_sentence(error, sentence):
    assert sentence in one_sentence(error)
    assert "in user code" not in one_sentence(error)
    assert "Op:SaveV2" not in one_sentence(error)
    assert "third" not in one_sentence(error)
    assert "page of arguments" not in one_sentence(error)


def test_a_failure_exits_with_one():
    assert Failure("no").exit_code == 1
