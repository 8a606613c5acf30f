import json

TEXT = "the films were played\nplaying films 好电影\n\nthe greatest film\n" * 5


def test_a_vocabulary_is_made(command, tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT, encoding="utf-8")
    result = command("vocab", tmp_path, "--size", 80, "--output", tmp_path / "v" / "vocab.txt")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith(f"{sum(1 for _ in open_lines(tmp_path))} entries (wordpiece)")
    options = ("--kind", "byte-bpe", "--json")
    result = command("vocab", tmp_path, "--size", 300, "--output", tmp_path / "bpe", *options)
    assert json.loads(result.stdout)["kind"] == "byte-bpe"
    assert (tmp_path / "bpe" / "merges.txt").is_file()


def open_lines(folder):
    return (folder / "v" / "vocab.txt").read_text(encoding="utf-8").splitlines()


def test_wrong_bytes_are_told(command, tmp_path):
    (tmp_path / "corpus.txt").write_bytes(b"b\xe4d b\xe4d\n")
    arguments = ("vocab", tmp_path / "corpus.txt", "--size", 20, "--output", tmp_path / "v.txt")
    result = command(*arguments)
    assert result.exit_code == 1
    assert "corpus.txt, line 1: byte 2 of the line is not UTF-8" in result.stderr
    assert command(*arguments, "--errors", "replace").exit_code == 0


def test_fewer_entries_than_asked_for_are_explained(command, tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT, encoding="utf-8")
    arguments = ("vocab", tmp_path, "--size", 5000, "--output", tmp_path / "vocab.txt")
    result = command(*arguments, "--min-frequency", 3)
    entries = len((tmp_path / "vocab.txt").read_text(encoding="utf-8").splitlines())
    assert result.stdout.startswith(
        f"{entries} entries (wordpiece), fewer than 5,000, as the texts hold no more characters "
        "and pieces that are frequent enough (--min-frequency 3, --character-coverage 0.9995)"
    )
    result = command(
        "vocab",
        tmp_path / "corpus.txt",
        "--size",
        9000,
        "--output",
        tmp_path / "bpe",
        "--kind",
        "byte-bpe",
    )
    assert "entries (byte-bpe), fewer than 9,000, as the texts hold no more pieces" in result.stdout
    assert "--character-coverage" not in result.stdout


def test_a_single_rare_character_is_one(command, tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT * 30 + "\u7f55\n", encoding="utf-8")
    result = command("vocab", tmp_path, "--size", 80, "--output", tmp_path / "vocab.txt")
    assert "; 1 rare character (0.0" in result.stdout
    assert "of the text) is unknown: " in result.stdout


def test_as_many_entries_as_asked_for_need_no_words(command, tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT, encoding="utf-8")
    result = command("vocab", tmp_path, "--size", 45, "--output", tmp_path / "vocab.txt")
    assert result.stdout.startswith("45 entries (wordpiece)")
    assert "fewer" not in result.stdout
