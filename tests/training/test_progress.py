import io
import sys

import pytest

from kerazoo.training.progress import SILENT, Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_messages_go_to_standard_error(capsys):
    Progress().say("loading")
    assert capsys.readouterr() == ("", "loading\n")


def test_quiet_says_nothing(capsys):
    SILENT.say("loading")
    with SILENT.bar("rows", 3) as advance:
        advance(1, "behind")
    assert capsys.readouterr() == ("", "")


def test_there_is_no_bar_in_a_log_file(capsys):
    progress = Progress()
    assert not progress.shows_bars
    with progress.bar("rows", 3) as advance:
        advance(3, "behind")
    assert capsys.readouterr() == ("", "")


def test_there_is_no_bar_where_none_is_wanted(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress(bars=False)
    with progress.bar("rows", 3) as advance:
        advance(2, "")
    progress.say("loading")
    assert terminal.getvalue() == "loading\n"


@pytest.mark.parametrize("total", [3, None])
def test_a_terminal_gets_a_bar_that_is_taken_away(monkeypatch, total):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Progress().bar("rows", total) as advance:
        advance(2, "loss [0.5]")
    shown = terminal.getvalue()
    assert "rows" in shown
    assert "2/" in shown
    assert "loss [0.5]" in shown
    assert "\x1b[2K" in shown
