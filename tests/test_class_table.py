import fractions
import subprocess
import sys

import pytest

from kerazoo.class_table import class_named

TABLE = {"ratio": ("fractions", "Fraction"), "gone": ("no_such_module", "Nothing")}


def test_the_class_is_imported_when_it_is_asked_for():
    assert class_named("number", "ratio", TABLE) is fractions.Fraction
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        class_named("number", "gone", TABLE)


def test_an_unknown_name_is_refused_with_what_there_is():
    with pytest.raises(ValueError, match="`number` must be one of 'ratio', 'gone'.*number='root'"):
        class_named("number", "root", TABLE)


def test_the_tables_import_no_framework():
    code = (
        "import sys, kerazoo.backbones.registry, kerazoo.tasks.registry\n"
        "print([n for n in ('keras', 'tensorflow', 'jax', 'torch') if n in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout == "[]\n", result.stderr
