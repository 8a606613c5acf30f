import json
import subprocess
import sys

import pytest

TEXTS = ["the film was good", "", "电影好"]


def answers(result):
    assert result.exit_code == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.fixture(params=["preset", "huggingface_folder", "tiny_saved_model"])
def model(request):
    return request.getfixturevalue(request.param)


def test_texts_are_answered_as_json_lines(command, model, tiny_text_classifier):
    options = [option for text in TEXTS for option in ("--text", text)]
    found = answers(command("predict", model, *options))
    for answer, text, expected in zip(
        found, TEXTS, tiny_text_classifier.classify(TEXTS), strict=True
    ):
        assert answer["text"] == text
        assert answer["label"] == expected["label"]
        assert answer["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.txt", "\n".join(TEXTS)),
        ("a.tsv", "text\tlabel\n" + "".join(f"{text}\tgood\n" for text in TEXTS)),
        ("a.jsonl", "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)),
    ],
)
def test_files_and_standard_input_give_the_same(command, preset, tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)
    from_file = answers(command("predict", preset, "--input", file))
    assert [answer["text"] for answer in from_file] == TEXTS
    assert answers(command("predict", preset, "--input", "-", input=content)) == from_file


def test_characters_are_written_as_they_are(command, preset):
    assert '"电影好"' in command("predict", preset, "--text", "电影好").stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Give texts with --text, or a file with --input."),
        (["--text", "a", "--input", "b.txt"], "Give texts with --text, or a file"),
        (["--text", "a", "--text", "b", "--text-pair", "c"], "2 and 1 were given"),
        (["--input", "a.tsv", "--text-pair", "c"], "--text-pair belongs to --text"),
        (["--text", "a", "--batch-size", "0"], "'--batch-size': 0 is not in the range"),
    ],
)
def test_wrong_usage(command, preset, options, message):
    result = command("predict", preset, *options)
    assert result.exit_code == 2
    assert message in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--input", "missing.tsv"], "There is no file missing.tsv"),
        (["--text", "a", "--text-pair", "b"], "The model reads one text"),
        (["--text", "a", "--max-new-tokens", "5"], "trained for text-classification and generates"),
        (["--text", "a\udcff"], "--text number 1 is not UTF-8"),
    ],
)
def test_failures(command, preset, options, message):
    result = command("predict", preset, *options)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.slow
def test_a_saved_model_is_answered_by_tensorflow_alone(tiny_saved_model, tmp_path):
    code = (
        "import sys\n"
        f"sys.argv = ['kerazoo', 'predict', {str(tiny_saved_model)!r}, '--text', 'good']\n"
        "from kerazoo.cli.main import main\n"
        "try:\n    main()\nfinally:\n"
        "    wrong = ('keras_hub', 'keras_nlp', 'kerazoo.tasks.base', 'kerazoo.backbones.bert')\n"
        "    print([name for name in wrong if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=100
    )
    answer, modules = result.stdout.splitlines()
    assert json.loads(answer)["text"] == "good"
    assert modules == "[]"
    assert result.stderr == ""
