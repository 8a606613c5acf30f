import subprocess
import sys

import pytest

from kerazoo.optimizers.adamw import create_optimizer
from kerazoo.optimizers.on_non_finite import ON_NON_FINITE


def test_an_optimizer_takes_these_and_no_other():
    assert [create_optimizer(0.1, on_non_finite=how).on_non_finite for how in ON_NON_FINITE] == [
        "stop",
        "skip",
    ]
    with pytest.raises(ValueError, match="on_non_finite='go on'"):
        create_optimizer(0.1, on_non_finite="go on")


def test_the_names_cost_no_framework():
    # The command line offers them in its help.
    code = "import sys, kerazoo.optimizers.on_non_finite; print('keras' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
