"""Tags and entities on the command line: trained, measured, answered, exported."""

import contextlib
import json
import os
import pty
import subprocess
import sys

import click
import pytest
from tiny_token_classifier import TAGS, TEXTS, WORDS, tiny_token_classifier

from kerazoo.cli.entities_in_text import entities_in_text


@pytest.fixture(scope="module")
def ner_preset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "ner"
    tiny_token_classifier().save_to_preset(folder)
    return folder


@pytest.fixture
def conll(tmp_path):
    """Five sentences, and one whose tags are not BIO."""
    rows = [*zip(WORDS, TAGS, strict=True), (["the", "cat"], ["O", "I-PER"])]
    path = tmp_path / "a.conll"
    path.write_text(
        "\n".join("".join(f"{w} {t}\n" for w, t in zip(*row, strict=True)) for row in rows)
    )
    return path


def answers(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_texts_and_words_are_answered_as_json_lines(command, ner_preset, conll):
    (found,) = answers(command("predict", ner_preset, "--text", TEXTS[1], "--quiet"))
    expected = {"text": TEXTS[1], **tiny_token_classifier().tag(TEXTS[1:2])[0]}
    assert {**found, "entities": 0} == {**expected, "entities": 0}
    for entity, other in zip(found["entities"], expected["entities"], strict=True):
        assert entity == pytest.approx(other)
    rows = answers(command("predict", ner_preset, "--input", conll, "--quiet"))
    assert [row["words"] for row in rows] == [*WORDS, ["the", "cat"]]
    assert all(len(row["tags"]) == len(row["words"]) for row in rows)
    piped = command("predict", ner_preset, "--input", "-", "--quiet", input="Ada came\n\ncats\n")
    assert [row["text"] for row in answers(piped)] == ["Ada came", "", "cats"]
    words = json.dumps({"words": ["Ada"]})
    (row,) = answers(command("predict", ner_preset, "--input", "-", "--quiet", input=words))
    assert row["words"] == ["Ada"]


def test_on_a_terminal_entities_stand_in_their_text(command, ner_preset, monkeypatch):
    from kerazoo.cli import predict as module

    monkeypatch.setattr(module, "_on_terminal", lambda: True)
    result = command("predict", ner_preset, "--text", TEXTS[0], "--quiet")
    entities = tiny_token_classifier().tag(TEXTS[:1])[0]["entities"]
    shown = click.unstyle(result.stdout)
    assert entities
    assert all(f"{e['text']}[{e['type']}]" in shown for e in entities)


@pytest.mark.slow
def test_a_real_terminal_gets_colours_and_no_bar_in_the_line_of_an_answer(ner_preset):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "kerazoo", "predict", str(ner_preset), "--text", TEXTS[0]]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # the other end was closed
            while part := os.read(ours, 4096):
                shown += part
        assert process.wait() == 0
    os.close(ours)
    (line,) = shown.decode().splitlines()
    assert "\x1b[" in line
    tagged = entities_in_text({"text": TEXTS[0], **tiny_token_classifier().tag(TEXTS[:1])[0]})
    assert click.unstyle(line) == click.unstyle(tagged) != TEXTS[0]


def test_measures_and_sentences_that_are_left_out(command, ner_preset, conll):
    (report,) = answers(command("evaluate", ner_preset, "--data", conll, "--json"))
    assert (report["rows"], report["skipped_rows"]) == (5, 1)
    assert {"precision", "recall", "f1", "macro_f1", "types", "illegal_moves"} <= set(report)
    result = command("evaluate", ner_preset, "--data", conll)
    note, fault, *_ = result.stderr.splitlines()
    assert note == f"{conll}: 1 of 6 rows is left out."
    assert fault.startswith(f"  {conll}, line 49: I-PER follows O")
    assert result.stdout.splitlines()[0].startswith("type  precision")
    assert "on 5 rows" in result.stdout
    strict = command("evaluate", ner_preset, "--data", conll, "--strict")
    assert strict.exit_code == 1
    assert "--tag-scheme bio" in strict.stderr
    other = command("evaluate", ner_preset, "--data", conll, "--tag-scheme", "iob1", "--json")
    assert "B-PER follows no entity of its type" in other.stderr


@pytest.mark.slow
@pytest.mark.compiled
def test_train_export_and_ask(command, ner_preset, conll, tmp_path):
    result = command(
        *("finetune", "token-classification", "--preset", ner_preset, "--train", conll),
        *("--validation", conll, "--output", tmp_path / "out", "--epochs", 1, "--json", "--crf"),
    )
    assert result.exit_code == 0, result.stderr
    metrics = json.loads(result.stdout)
    assert (metrics["train_rows"], metrics["skipped_rows"]) == (5, 2)
    assert {"f1", "illegal_moves"} <= set(metrics)
    assert "val_entity_f1" in metrics["epochs"][0]
    shown = json.loads(command("show", tmp_path / "out", "--json").stdout)
    assert shown["labels"] == ["O", "B-LOC", "I-LOC", "B-PER", "I-PER"]
    assert shown["parameters"] == metrics["parameters"]
    result = command("export", tmp_path / "out", "--output", tmp_path / "served", "--json")
    assert result.exit_code == 0, result.stderr
    asked = ("--text", TEXTS[0], "--text", TEXTS[3], "--quiet")
    preset = answers(command("predict", tmp_path / "out", *asked))
    exported = answers(command("predict", tmp_path / "served", *asked))
    for row, other in zip(preset, exported, strict=True):
        assert [e["text"] for e in row["entities"]] == [e["text"] for e in other["entities"]]
    (report,) = answers(command("evaluate", tmp_path / "served", "--data", conll, "--json"))
    assert report["rows"] == 5
