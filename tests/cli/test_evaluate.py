import json


def test_a_table_and_a_summary(command, preset, rows):
    result = command("evaluate", preset, "--data", rows[1])
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["label", "precision", "recall", "f1", "support"]
    assert [line.split()[0] for line in lines[1:4]] == ["bad", "good", "mixed"]
    assert [int(line.split()[-1]) for line in lines[1:4]] == [2, 2, 1]
    assert lines[4].startswith("accuracy ")
    assert lines[4].endswith("on 5 rows")


def test_a_saved_model_and_standard_input(command, tiny_saved_model, rows):
    result = command(
        "evaluate", tiny_saved_model, "--data", "-", "--json", input=rows[1].read_text()
    )
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["rows"] == 5


def test_an_unknown_label_is_told(command, preset, tmp_path):
    file = tmp_path / "a.tsv"
    file.write_text("text\tlabel\nx\tgood\ny\tfine\n")
    result = command("evaluate", preset, "--data", file)
    assert result.exit_code == 1
    assert (
        "a.tsv, line 3: the label 'fine' is unknown; the model knows bad, good, mixed"
        in result.stderr
    )
