import dataclasses

import click
import pytest
from click.testing import CliRunner

from kerazoo.cli.settings_options import options_of, settings_of
from kerazoo.training.settings import Settings


@dataclasses.dataclass(frozen=True)
class Example(Settings):
    """Three settings and one that has no option."""

    batch_size: int = 32
    rate: float | None = None
    frozen: bool = False
    seed: int = 0


TABLE = {"batch_size": (int, "Rows."), "rate": (float, "Rate."), "frozen": (bool, "Freeze.")}


@click.command()
@options_of(Example, TABLE, left_out=["seed"])
def example(config, **options):
    print(repr(settings_of(Example, config, options)))


def run(*arguments):
    return CliRunner().invoke(example, arguments, catch_exceptions=False)


def test_options_show_their_defaults_in_the_order_of_the_fields():
    shown = run("--help").output
    assert "Rows. [default: 32]" in shown
    assert "Rate.\n" in shown
    assert "--frozen / --no-frozen" in shown
    assert shown.index("--config") < shown.index("--batch-size") < shown.index("--rate")
    assert "--seed" not in shown


def test_options_win_over_the_file_and_the_file_over_the_defaults(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("batch_size: 7\nfrozen: true\nseed: 5\n")
    assert run().output.strip() == repr(Example())
    output = run("--config", str(file), "--batch-size", "9", "--no-frozen").output
    assert output.strip() == repr(Example(batch_size=9, seed=5))


def test_an_unfit_value_names_the_file(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("batch_size: many\n")
    with pytest.raises(ValueError, match=r"a\.yaml: `batch_size`"):
        settings_of(Example, str(file), {"batch_size": None})
