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
    assert result.stdout.splitlines()[-1] == "1 text, 0 cut; 0 empty texts left out"


def test_a_corpus_gives_a_table_and_a_plot(command, preset, tmp_path):
    corpus, table, plot = (tmp_path / name for name in ("c.txt", "heads.csv", "entropy.png"))
    corpus.write_text("the film was good\n\nbad play\nnot very good , not bad , not dull !\n")
    result = command("attention", preset, "--input", corpus, "--table", table, "--plot", plot)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.splitlines()[-3:] == [
        "3 texts, 1 cut; 1 empty text left out",
        f"Table: {table}",
        f"Plot: {plot}",
    ]
    with table.open(newline="") as stream:
        assert len(list(csv.DictReader(stream))) == 2 * 4
    assert plot.read_bytes().startswith(b"\x89PNG")
    as_json = command("attention", preset, "--input", corpus, "--json", "--max-texts", "2")
    assert json.loads(as_json.stdout)["texts"] == 2


def test_a_pair_gives_a_page(command, preset, tmp_path):
    page = tmp_path / "page.html"
    texts = ("--text", "good film", "--text-pair", "bad </script>")
    result = command("attention", preset, *texts, "--output", page, "--json")
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["texts"] == ["good film", "bad </script>"]
    text = page.read_text("utf-8")
    assert "Attention of preset" in text and "2 layers of 4 heads" in text
    assert r"bad \u003c/script>" in text
    again = command("attention", preset, "--text", "good", "--output", page)
    assert again.exit_code == 1 and "There is a file of this name already" in again.stderr
    assert page.read_text("utf-8") == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--text", " "), "Text 0 is empty"),
        (("--text", "good " * 12), "has 14 tokens, and the model reads at most 11"),
        (("--text", "good", "--table", "heads.xls"), "a .csv or a .json file"),
        (("--text", "good", "--plot", "."), "There is a folder of this name already"),
        (("--text", "good", "--output", "page.png"), "A page is an .html file"),
        (("--text", "good", "--output", f"{__file__}/page.html"), "test_attention.py is a file"),
        (("--text", "good", "--text-pair", ""), "The text_pair of text 0 is empty"),
        (("--text", "\u200b"), "No token is left of text 0"),
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


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--text", "a", "--input", "b.txt"),
        ("--text", "a", "--text", "b", "--output", "page.html"),
        ("--input", "b.txt", "--output", "page.html"),
        ("--text", "a", "--text-pair", "b", "--text-pair", "c"),
        ("--text", "a", "--max-texts", "3"),
        ("--input", "b.txt", "--text-pair", "c"),
        ("--input", "b.txt", "--max-texts", "0"),
        ("--text", "a", "--sequence-length", "0"),
        ("--text", "a", "--batch-size", "0"),
    ],
)
def test_wrong_usage(command, arguments):
    assert command("attention", "anywhere", *arguments).exit_code == 2


@pytest.mark.parametrize(
    "output", [("--output", "a.html"), ("--table", "a.csv"), ("--plot", "a.png")]
)
def test_an_output_that_cannot_be_written_is_told_before_the_model_is_looked_for(command, output):
    option, name = output
    arguments = ("--text", "a", option, f"/proc/kerazoo/{name}")
    result = command("attention", "anywhere", *arguments)
    assert result.exit_code == 1
    assert f"/proc/kerazoo/{name}: Nothing can be written there" in result.stderr


def test_what_a_text_lacks_is_not_in_the_summary(command, preset):
    result = command("attention", preset, "--text", "good film !")
    assert "most to punctuation" in result.stdout and "most to separator" in result.stdout
    assert "most to full stop" not in result.stdout


def test_few_texts_have_no_interval(command, preset):
    texts = ("good", "bad film", "a play .", "very bad", "not good")
    arguments = [part for text in texts for part in ("--text", text)]
    lines = command("attention", preset, *arguments[:8]).stdout.splitlines()
    assert "95 % interval" in lines[0] and " — " in lines[1] and " to " not in lines[1]
    lines = command("attention", preset, *arguments).stdout.splitlines()
    assert " to " in lines[1] and "—" not in lines[1]
