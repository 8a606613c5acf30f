"""That several processes write shards is tested in `test_prepare.py`, with a kill."""

import os
import subprocess
import sys
from multiprocessing.spawn import get_preparation_data

import pytest

from kerazoo.data import prepare_worker


def test_a_process_starts_without_anything_heavy():
    script = (
        "import sys, kerazoo.data.prepare_worker, kerazoo.data.shard\n"
        "print([m for m in ('tensorflow', 'keras', 'numpy') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr


def test_what_fails_at_the_start_is_raised_by_the_first_task(monkeypatch):
    """An error in a pool's initializer would only say that the pool is broken."""
    monkeypatch.setattr(prepare_worker, "_failure", ModuleNotFoundError("no jieba"))
    with pytest.raises(ModuleNotFoundError, match="no jieba"):
        prepare_worker._write(None)


def test_standard_error_is_muted_and_comes_back(capfd):
    with prepare_worker._muted():
        os.write(2, b"hidden\n")
    os.write(2, b"shown\n")
    assert capfd.readouterr().err == "shown\n"


def test_a_process_does_not_run_the_callers_script_again(monkeypatch):
    monkeypatch.setattr(sys.modules["__main__"], "__file__", "script.py", raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__spec__", None)
    assert get_preparation_data("worker")["init_main_from_path"].endswith("script.py")
    with prepare_worker._without_the_callers_script():
        assert not [name for name in get_preparation_data("worker") if "init_main" in name]
    assert sys.modules["__main__"].__file__ == "script.py"
