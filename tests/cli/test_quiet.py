import logging
import warnings

import pytest

import kerazoo.cli.quiet as quiet


def warn_from(filename, message):
    warnings.warn_explicit(message, UserWarning, filename, 7, registry={})


@pytest.fixture
def library(tmp_path):
    return str(tmp_path / "keras.py")


def test_only_warnings_of_kerazoo_are_passed_on(capsys, library):
    with quiet.quiet_frameworks(lambda: False):
        warn_from(library, "internal")
        warn_from(quiet.__file__, "two texts were cut")
    assert capsys.readouterr().err == "Note: two texts were cut\n"


def test_debug_shows_everything(monkeypatch, library):
    seen = []
    with warnings.catch_warnings():
        monkeypatch.setattr(
            warnings, "showwarning", lambda message, *rest: seen.append(str(message))
        )
        with quiet.quiet_frameworks(lambda: True):
            warn_from(library, "internal")
    assert seen == ["internal"]


def test_notices_of_tensorflow_are_off_and_filters_come_back():
    before = list(warnings.filters)
    with quiet.quiet_frameworks(lambda: False):
        assert logging.getLogger("tensorflow").level == logging.ERROR
    assert list(warnings.filters) == before
