import json

import pytest


def test_a_probe_of_words(command, preset, tmp_path):
    data = tmp_path / "words.conll"
    data.write_text("the D\nfilm N\nwas V\n\nbad A\nplay N\n\n" * 4)
    output, cache = tmp_path / "probe", tmp_path / "cache"
    options = ("--data", data, "--seeds", "1", "--cache", cache, "--quiet")
    result = command("probe", preset, *options, "--output", output)
    assert result.exit_code == 0, result.stderr
    assert "20 examples, 4 labels, 1 seed" in result.stdout
    assert "left out" not in result.stdout
    content = json.loads((output / "probe.json").read_text())
    assert [layer["layer"] for layer in content["layers"]] == [0, 1, 2]
    assert len(list(cache.iterdir())) == 2


def test_wrong_data_is_told_and_nothing_is_written(command, preset, tmp_path):
    data = tmp_path / "words.conll"
    data.write_text("the D\nfilm\n")
    result = command("probe", preset, "--data", data, "--output", tmp_path / "probe")
    assert result.exit_code == 1
    assert "line 2: this line has 1 column" in result.stderr
    assert list(tmp_path.iterdir()) == [data]


def test_an_output_folder_that_is_a_file(command, preset, tmp_path):
    data = tmp_path / "words.conll"
    data.write_text("the D\nfilm N\n")
    result = command("probe", preset, "--data", data, "--output", data)
    assert result.exit_code == 1
    assert "There is something at the output path already" in result.stderr
    assert data.read_text() == "the D\nfilm N\n"


def test_a_saved_model_is_told_what_to_give_instead(command, tiny_saved_model, tmp_path):
    data = tmp_path / "words.conll"
    data.write_text("the D\nfilm N\n\n" * 2)
    result = command("probe", tiny_saved_model, "--data", data, "--output", tmp_path / "probe")
    assert result.exit_code == 1
    assert "Give the preset" in result.stderr
    assert list(tmp_path.iterdir()) == [data]


def test_words_behind_the_limit_are_told(command, preset, tmp_path):
    data = tmp_path / "words.conll"
    data.write_text("the D\nfilm N\nwas V\n\n" * 5)
    options = ("--data", data, "--seeds", "1", "--quiet", "--output", tmp_path / "probe")
    result = command("probe", preset, *options, "--sequence-length", "4")
    assert result.exit_code == 0, result.stderr
    assert "10 examples, 2 labels, 1 seed" in result.stdout
    assert "5 words lie behind 4 tokens" in result.stdout
    assert json.loads((tmp_path / "probe" / "probe.json").read_text())["left_out"] == 5


@pytest.mark.parametrize(
    "options",
    [
        ("--test-fraction", "0"),
        ("--test-fraction", "1.5"),
        ("--sequence-length", "-5"),
        ("--max-rows", "0"),
        ("--batch-size", "0"),
    ],
)
def test_wrong_usage(command, options):
    result = command("probe", "anywhere", "--data", "a.conll", "--output", "out", *options)
    assert result.exit_code == 2
    assert f"'{options[0]}'" in result.stderr
