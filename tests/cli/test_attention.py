import csv
import json

import pytest


def test_a_text_as_json(command, preset):
    result = command("attention", preset, "--text", "good film", "--text", "bad", "--json")
    assert result.exit_code == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert [line["tokens"] for line in lines] == [
        ["[CLS]", "good", "film", "[SEP]"],
        ["[CLS]", "bad", "[SEP]"],
    ]
    assert len(lines[0]["weights"]) == 2 and len(lines[0]["weights"][1]) == 4


def test_a_pair_for_people(command, preset):
    result = command("attention", preset, "--text", "good film", "--text-pair", "bad")
    assert result.exit_code == 0, result.stderr
    assert "most to other segment" in result.stdout
    assert result.stdout.splitlines()[-1] == "1 texts, 0 cut, 0 empty ones left out"


def test_a_corpus_gives_a_table_and_a_plot(command, preset, tmp_path):
    corpus, table, plot = (tmp_path / name for name in ("c.txt", "heads.csv", "entropy.png"))
    corpus.write_text("the film was good\n\nbad play\nnot very good , not bad , not dull !\n")
    result = command("attention", preset, "--input", corpus, "--table", table, "--plot", plot)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "3 texts, 1 cut, 1 empty ones left out"
    with table.open(newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 2 * 4
    assert plot.read_bytes().startswith(b"\x89PNG")
    as_json = command("attention", preset, "--input", corpus, "--json", "--max-texts", "2")
    assert json.loads(as_json.stdout)["texts"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--text", " "), "Text 0 is empty"),
        (("--text", "good " * 12), "has 14 tokens, and the model reads at most 11"),
        (("--text", "good", "--table", "heads.xls"), "a .csv or a .json file"),
        (("--text", "good", "--plot", "."), "is a folder"),
    ],
)
def test_bad_input_is_told_in_a_sentence(command, preset, arguments, message):
    result = command("attention", preset, *arguments)
    assert result.exit_code == 1
    assert message in result.stderr


def test_a_saved_model_is_told_what_to_give_instead(command, tiny_saved_model):
    result = command("attention", tiny_saved_model, "--text", "good")
    assert result.exit_code == 1
    assert "Give the preset" in result.stderr


@pytest.mark.parametrize("arguments", [(), ("--text", "a", "--input", "b.txt")])
def test_texts_or_a_corpus(command, arguments):
    assert command("attention", "anywhere", *arguments).exit_code == 2
