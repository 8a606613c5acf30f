import importlib
import signal
import subprocess
import sys
import time

import click
import pytest

from kerazoo import __version__
from kerazoo.cli import main

HEAVY = ("keras", "keras_hub", "keras_nlp", "tensorflow", "jax", "torch", "numpy", "rich", "yaml")


def shell(*arguments, **options):
    command = [sys.executable, "-m", "kerazoo", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, **options)


def seconds_of(code):
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    return time.perf_counter() - began


def test_help_is_quick():
    # The quickest of several, since other processes share this machine; Python's own start is
    # taken out of what a slow machine may add.
    code = "import sys; sys.argv = ['kerazoo', '--help']; from kerazoo.cli.main import main; main()"
    python = min(seconds_of("pass") for _ in range(5))
    assert min(seconds_of(code) for _ in range(7)) < max(0.2, 0.15 + 2 * python)


def test_help_imports_no_framework():
    code = (
        "import sys\nsys.argv = ['kerazoo', '--help']\n"
        "from kerazoo.cli.main import main\n"
        "try:\n    main()\nfinally:\n"
        f"    print('heavy:', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.splitlines()[-1] == "heavy: []"
    for name in main.COMMANDS:
        assert f"  {name} " in result.stdout


@pytest.mark.parametrize("name", main.COMMANDS)
def test_every_command_has_a_module_and_its_help_names_its_options(name, command):
    module = name.replace("-", "_")
    found = getattr(importlib.import_module(f"kerazoo.cli.{module}"), module)
    assert isinstance(found, click.Command)
    result = command(name, "--help")
    assert result.exit_code == 0
    if name != "finetune":
        assert "--debug" in result.output


def test_the_version_is_the_packages(command):
    assert command("--version").output == f"kerazoo {__version__}\n"


def test_wrong_usage_exits_with_two(command):
    for arguments in (["nonsense"], ["show"], ["zoo", "--nonsense"], ["predict", "x"]):
        result = command(*arguments)
        assert result.exit_code == 2
        assert "Error: " in result.stderr


def test_a_failure_is_a_sentence_and_exits_with_one():
    result = shell("verify", "no-such-folder")
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert "no-such-folder" in result.stderr
    assert "Traceback" not in result.stderr


def test_debug_shows_the_traceback(command):
    result = command("evaluate", "x", "--data", "no-such-file.tsv", "--debug")
    assert isinstance(result.exception, FileNotFoundError)
    result = command("evaluate", "x", "--data", "no-such-file.tsv")
    assert isinstance(result.exception, SystemExit)
    assert result.exit_code == 1


def test_a_killed_run_leaves_no_unfinished_folder(tmp_path):
    code = f"""
import os, signal, time
from kerazoo.cli import main
from kerazoo.conversion.new_folder import new_folder

def command(prog_name):
    with new_folder({str(tmp_path / "out")!r}) as folder:
        (folder / "half").write_text("x")
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(20)

main.kerazoo = command
main.main()
"""
    result = subprocess.run([sys.executable, "-c", code], timeout=60)
    assert result.returncode == 128 + signal.SIGTERM
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_is_not_an_error(command, monkeypatch):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("kerazoo.cli.zoo.zoo_content", interrupt)
    result = command("zoo")
    assert result.exit_code == 128 + signal.SIGINT
    assert result.stderr == "Interrupted.\n"


def test_a_reader_that_leaves_is_no_error():
    pipeline = f"{sys.executable} -m kerazoo zoo --json | true; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", pipeline], capture_output=True, text=True)
    assert result.stderr == ""
    # 0 if the answer fitted into the pipe before the reader left.
    assert int(result.stdout) in (0, main.READER_GONE)


def test_a_pipe_that_is_broken_is_quiet():
    code = (
        "import sys, kerazoo.cli.zoo as zoo\n"
        "def broken():\n    raise BrokenPipeError(32, 'Broken pipe')\n"
        "zoo.zoo_content = broken\nsys.argv = ['kerazoo', 'zoo']\n"
        "from kerazoo.cli.main import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (main.READER_GONE, "")
