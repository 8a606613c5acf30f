import dataclasses

import click
import pytest
from click.testing import CliRunner

from kerazoo.cli.failure import DEBUG
from kerazoo.cli.options import (
    OutputPath,
    batch_size_option,
    debug_option,
    json_option,
    quiet_option,
    settings_from,
    settings_options,
    strategy_options,
)
from kerazoo.training.config import UNUSED_SETTINGS, FinetuneConfig


@click.command()
@settings_options("text-classification")
def settings(config, **options):
    print(repr(settings_from(config, options)))


def run(*arguments):
    return CliRunner().invoke(settings, arguments, catch_exceptions=False)


def test_every_setting_has_an_option_that_shows_its_default():
    shown = " ".join(run("--help").output.split())
    for field in dataclasses.fields(FinetuneConfig):
        if field.name in UNUSED_SETTINGS["text-classification"]:
            assert f"--{field.name}" not in shown
            continue
        assert f"--{field.name.replace('_', '-')}" in shown
        if field.default and field.type is not bool:
            assert f"[default: {field.default}]" in shown


def test_nothing_given_is_the_defaults():
    assert run().output.strip() == repr(FinetuneConfig())


def test_options_win_over_the_file(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("epochs: 7\nfreeze_backbone: true\nclass_weight: balanced\n")
    output = run("--config", str(file), "--epochs", "2", "--no-freeze-backbone").output
    expected = FinetuneConfig(epochs=2, class_weight="balanced")
    assert output.strip() == repr(expected)


def test_words_that_are_no_numbers_are_wrong_usage():
    assert CliRunner().invoke(settings, ["--epochs", "many"]).exit_code == 2
    assert CliRunner().invoke(settings, ["--precision", "float16"]).exit_code == 2


def test_the_flags_reach_the_command():
    @click.command()
    @batch_size_option
    @json_option
    @quiet_option
    @debug_option
    @click.pass_context
    def flags(ctx, batch_size, as_json, quiet):
        print(batch_size, as_json, quiet, ctx.meta[DEBUG])

    assert CliRunner().invoke(flags, []).output == "32 False False False\n"
    given = ["--batch-size", "5", "--json", "-q", "--debug"]
    assert CliRunner().invoke(flags, given).output == "5 True True True\n"


def test_an_unfit_value_names_the_file(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("epochs: 0\n")
    with pytest.raises(ValueError, match=r"a\.yaml: `epochs`"):
        settings_from(str(file), {"epochs": None})


def test_an_empty_output_is_not_this_folder():
    @click.command()
    @click.option("--output", type=OutputPath())
    def show(output):
        print(output)

    assert CliRunner().invoke(show, ["--output", "runs/a b"]).output == "runs/a b\n"
    refused = CliRunner().invoke(show, ["--output", " "])
    assert refused.exit_code == 2
    assert "The path is empty; name what to create. Received: ' '" in refused.output


def test_devices_are_chosen_by_name():
    @click.command()
    @strategy_options
    def command(strategy, dry_run):
        print(strategy, dry_run)

    assert CliRunner().invoke(command, []).output == "auto False\n"
    given = ["--strategy", "data_parallel", "--dry-run"]
    assert CliRunner().invoke(command, given).output == "data_parallel True\n"
    wrong = CliRunner().invoke(command, ["--strategy", "sharded"])
    assert wrong.exit_code == 2
    assert "multi_worker" in wrong.output
