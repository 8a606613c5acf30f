import subprocess
import sys


def test_python_m_kerazoo_is_the_command():
    result = subprocess.run(
        [sys.executable, "-m", "kerazoo", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.startswith("kerazoo ")
