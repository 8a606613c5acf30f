import json


def test_a_probe_of_words(command, preset, tmp_path):
    data = tmp_path / "words.conll"
    data.write_text("the D\nfilm N\nwas V\n\nbad A\nplay N\n\n" * 4)
    output, cache = tmp_path / "probe", tmp_path / "cache"
    options = ("--data", data, "--seeds", "1", "--cache", cache, "--quiet")
    result = command("probe", preset, *options, "--output", output)
    assert result.exit_code == 0, result.stderr
    assert "20 examples, 4 labels, 1 seeds" in result.stdout
    content = json.loads((output / "probe.json").read_text())
    assert [layer["layer"] for layer in content["layers"]] == [0, 1, 2]
    assert len(list(cache.iterdir())) == 2


def test_wrong_data_is_told_and_nothing_is_written(command, preset, tmp_path):
    data = tmp_path / "words.conll"
    data.write_text("the D\nfilm\n")
    result = command("probe", preset, "--data", data, "--output", tmp_path / "probe")
    assert result.exit_code == 1
    assert "line 2: this line has 1 columns" in result.stderr
    assert list(tmp_path.iterdir()) == [data]
