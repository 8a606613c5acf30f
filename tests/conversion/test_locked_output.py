import errno
import fcntl
import os
import subprocess
import sys

import pytest

from kerazoo.conversion.locked_output import locked_output

HOLD = """
import sys, time
from kerazoo.conversion.locked_output import locked_output

with locked_output(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_second_run_is_told_who_writes_there(tmp_path):
    with locked_output(tmp_path / "out"):
        holder = f"by process {os.getpid()} on "
        with (
            pytest.raises(BlockingIOError, match=f"{holder}.*nothing was written.*Received: out"),
            locked_output(str(tmp_path / "." / "out")),
        ):
            raise AssertionError("the block must not run")
        with locked_output(tmp_path / "other"):
            pass
        assert os.listdir(tmp_path) == [".out.lock"]


def test_nothing_is_left_and_the_lock_is_free_again(tmp_path):
    for _ in range(2):
        with pytest.raises(RuntimeError), locked_output(tmp_path / "deep" / "er" / "out"):
            raise RuntimeError
    assert os.listdir(tmp_path) == []
    with locked_output(tmp_path / "deep" / "out"):
        (tmp_path / "deep" / "out").mkdir()
    assert os.listdir(tmp_path / "deep") == ["out"]


def test_a_killed_process_blocks_nobody(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path / "out")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with (
            pytest.raises(BlockingIOError, match=f"by process {process.pid} on"),
            locked_output(tmp_path / "out"),
        ):
            raise AssertionError("the block must not run")
        process.kill()
    with locked_output(tmp_path / "out"):
        pass
    assert os.listdir(tmp_path) == []


def test_a_lock_that_was_just_given_back_is_taken_anew(tmp_path, monkeypatch):
    lock, flock = tmp_path / ".out.lock", fcntl.flock

    def given_back_meanwhile(descriptor, operation):
        monkeypatch.setattr(fcntl, "flock", flock)
        lock.unlink()
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", given_back_meanwhile)
    with locked_output(tmp_path / "out"):
        assert lock.exists()


def test_a_folder_where_nothing_can_be_written_beside_it_is_locked_itself(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    open_file = os.open

    def refuse(path, flags, *mode):
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open_file(path, flags, *mode)

    monkeypatch.setattr(os, "open", refuse)
    with locked_output(tmp_path / "out"):
        with (
            pytest.raises(BlockingIOError, match="written to by another process"),
            locked_output(tmp_path / "out"),
        ):
            raise AssertionError("the block must not run")
    with (
        pytest.raises(PermissionError, match="Permission denied") as raised,
        locked_output(tmp_path / "new"),
    ):
        raise AssertionError("the block must not run")
    assert raised.value.filename == str(tmp_path / "new")
    assert "Choose another output" in raised.value.strerror


def test_a_file_on_the_way_is_named(tmp_path):
    (tmp_path / "a.tsv").write_text("kept")
    with (
        pytest.raises(NotADirectoryError, match=r"a\.tsv is a file.*nothing was written"),
        locked_output(tmp_path / "a.tsv" / "deep" / "out"),
    ):
        raise AssertionError("the block must not run")


def test_a_disk_without_locks_is_written_to_without_one(tmp_path, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked_output(tmp_path / "out"):
        pass
    assert os.listdir(tmp_path) == []
