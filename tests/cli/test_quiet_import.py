import subprocess
import sys

import pytest

RUN = """
import importlib.util
import sys
from kerazoo.cli.quiet_import import quiet_import
with quiet_import("noisy", lambda: {debug}):
    assert importlib.util.find_spec("noisy") is not None
    import noisy
print(noisy.VALUE, noisy.__spec__.name, len(sys.meta_path), file=sys.stdout)
print("heard", file=sys.stderr)
"""


@pytest.fixture
def run(tmp_path):
    def run_with(body, debug=False):
        (tmp_path / "noisy.py").write_text(f"import os\nos.write(2, b'GPU notice')\n{body}\n")
        code = f"import sys; sys.path.append({str(tmp_path)!r})" + RUN.format(debug=debug)
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)

    return run_with


def test_notices_of_the_import_are_muted_and_later_words_are_not(run):
    result = run("VALUE = 7")
    assert result.stdout.startswith("7 noisy ")
    assert result.stderr == "heard\n"


def test_debug_mutes_nothing(run):
    assert run("VALUE = 7", debug=True).stderr == "GPU noticeheard\n"


def test_a_failing_import_tells_all(run):
    result = run("raise ImportError('wrong library')")
    assert "GPU notice" in result.stderr
    assert "ImportError: wrong library" in result.stderr


def test_the_finder_is_gone_afterwards():
    from kerazoo.cli.quiet_import import quiet_import

    before = list(sys.meta_path)
    with quiet_import("nothing_of_this_name", lambda: False):
        assert len(sys.meta_path) == len(before) + 1
        with pytest.raises(ModuleNotFoundError):
            import nothing_of_this_name  # noqa: F401
    assert sys.meta_path == before
