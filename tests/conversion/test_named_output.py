import errno
import os

import pytest

from kerazoo.conversion.named_output import named_output

NO_SPACE = os.strerror(errno.ENOSPC)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, NO_SPACE),
        OSError(errno.ENOSPC, NO_SPACE, "out/.unfinished/run.json.77"),
        OSError(f"cannot write (errno = 28,\n'{NO_SPACE}', buf)"),
        RuntimeError(f"RESOURCE_EXHAUSTED: a; {NO_SPACE} [Op:SaveV2]"),
    ],
)
def test_a_full_disk_is_that_of_the_output(error, tmp_path):
    with pytest.raises(OSError, match="No space left on device. Free some") as raised:
        with named_output(tmp_path / "outer"), named_output(tmp_path / "outer" / ".inner"):
            raise error
    assert raised.value.filename == str(tmp_path / "outer")
    assert raised.value.errno == errno.ENOSPC


def test_a_full_disk_within_is_that_of_the_other_output(tmp_path):
    error = OSError(errno.ENOSPC, NO_SPACE)
    with pytest.raises(OSError, match="Free some") as raised:
        with named_output(tmp_path / "probe"), named_output(tmp_path / "cache" / "states"):
            raise error
    assert raised.value.filename == str(tmp_path / "cache" / "states")
    with pytest.raises(OSError, match="Free some") as raised:
        with named_output(tmp_path / "probe"), named_output(tmp_path / ".probe.k3j2" / "a.csv"):
            raise error
    assert raised.value.filename == str(tmp_path / "probe")


@pytest.mark.parametrize(
    "name",
    [".out.k3j2", ".out.k3j2/a.csv", "out/.unfinished", "out/.unfinished/run.json.77", ".out.lock"],
)
def test_a_temporary_name_is_not_said(name, tmp_path):
    error = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / name))
    with pytest.raises(PermissionError, match="Nothing can be written there.*denied") as raised:
        with named_output(str(tmp_path / "out")):
            raise error
    assert raised.value.filename == str(tmp_path / "out")


@pytest.mark.parametrize("name", ["corpus.txt", "out/vocab.txt", ".other", "deep/.out.k3j2"])
def test_what_a_person_can_see_is_said_as_it_is(name, tmp_path):
    error = PermissionError(errno.EACCES, "Permission denied", str(tmp_path / name))
    with pytest.raises(PermissionError) as raised, named_output(tmp_path / "out"):
        raise error
    assert raised.value is error


def test_other_errors_pass():
    with pytest.raises(KeyError), named_output("out"):
        raise KeyError
    with pytest.raises(OSError, match="^in words$"), named_output("out"):
        raise OSError("in words")
