import gzip
import io
import sys

import pytest

from kerazoo.data import corpus_vocabulary as module
from kerazoo.data.corpus_vocabulary import make_vocabulary
from kerazoo.data.tokenizer_source import vocabulary_tokenizer

TEXT = "the films were played\nplaying films 好电影\n\nthe greatest film\n" * 5


@pytest.fixture
def file(tmp_path):
    (tmp_path / "corpus.txt").write_text(TEXT, encoding="utf-8")
    return str(tmp_path / "corpus.txt")


def test_a_wordpiece_file_is_what_tokenizers_read(file, tmp_path):
    seen = []
    output = tmp_path / "new" / "vocab.txt"
    vocabulary = make_vocabulary([file], output, 80, on_document=lambda: seen.append(1))
    assert output.read_text(encoding="utf-8").split("\n")[:-1] == list(vocabulary.entries)
    tokenizer = vocabulary_tokenizer(output)
    assert tokenizer.get_vocabulary() == list(vocabulary.entries)
    assert [path.name for path in output.parent.iterdir()] == ["vocab.txt"]
    # Six documents, read twice.
    assert len(seen) == 12


@pytest.mark.parametrize("kind", ["byte-bpe", "gpt-bpe"])
def test_a_bpe_folder_is_what_tokenizers_read(file, tmp_path, kind):
    vocabulary = make_vocabulary([file], tmp_path / "bpe", 300, kind)
    tokenizer = vocabulary_tokenizer(tmp_path / "bpe")
    assert tokenizer.get_vocabulary() == list(vocabulary.entries)
    assert tokenizer.get_merges() == list(vocabulary.merges)
    assert tokenizer.end_token == "<|endoftext|>"
    assert type(tokenizer).__name__ == {"byte-bpe": "ByteBPETokenizer"}.get(kind, "GPTBPETokenizer")


@pytest.mark.transformers
@pytest.mark.parametrize("kind", ["byte-bpe", "gpt-bpe"])
def test_a_bpe_folder_is_what_hugging_face_reads(file, tmp_path, kind):
    from transformers import AutoTokenizer

    make_vocabulary([file], tmp_path / "bpe", 300, kind)
    texts = TEXT.split("\n")
    ids = vocabulary_tokenizer(tmp_path / "bpe").tokenize(texts).to_list()
    assert AutoTokenizer.from_pretrained(tmp_path / "bpe")(texts)["input_ids"] == ids


def test_byte_level_entries_may_hold_line_ends(tmp_path):
    (tmp_path / "a.txt").write_text("yes\nno\n\nyes\nno\n", encoding="utf-8")
    vocabulary = make_vocabulary([str(tmp_path / "a.txt")], tmp_path / "bpe", 263, "byte-bpe")
    ids = vocabulary_tokenizer(tmp_path / "bpe").tokenize("yes\nno")
    assert len(ids) < 6
    assert "yes" in vocabulary.entries


def test_standard_input_is_read_twice(monkeypatch, file, tmp_path):
    make_vocabulary([file], tmp_path / "file.txt", 80)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    make_vocabulary(["-"], tmp_path / "input.txt", 80)
    assert (tmp_path / "input.txt").read_bytes() == (tmp_path / "file.txt").read_bytes()


def test_a_share_of_the_documents_is_read(tmp_path):
    documents = [f"word{number} common" for number in range(400)]
    (tmp_path / "a.txt").write_text("\n\n".join(documents), encoding="utf-8")
    options = {"size": 900, "min_frequency": 1, "character_coverage": 1.0}
    vocabulary = make_vocabulary([str(tmp_path / "a.txt")], tmp_path / "v", share=0.25, **options)
    words = [entry for entry in vocabulary.entries if entry.startswith("word") and entry != "word"]
    assert 60 < len(words) < 150


def test_of_a_large_corpus_a_share_is_read_so_that_memory_is_bounded(monkeypatch, tmp_path):
    documents = "\n\n".join(f"word{number} common" for number in range(400))
    (tmp_path / "a.txt").write_text(documents, encoding="utf-8")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(documents.encode()))
    packed = (tmp_path / "b.txt.gz").stat().st_size
    options = {"size": 900, "min_frequency": 1, "character_coverage": 1.0}

    def words(number, limit, *files, **more):
        monkeypatch.setitem(module.READ_AT_MOST, "wordpiece", limit)
        said = []
        paths = [str(tmp_path / file) for file in files]
        more = {**options, **more, "say": said.append}
        vocabulary = make_vocabulary(paths, tmp_path / f"v{number}", **more)
        found = [e for e in vocabulary.entries if e.startswith("word") and e != "word"]
        return len(found), said

    count, said = words(0, len(documents) // 4, "a.txt")
    assert 60 < count < 150
    assert len(said) == 1
    assert "a share of 0.25 of the documents is read" in said[0]
    assert "--share 1 reads all" in said[0]
    assert words(1, len(documents), "a.txt") == (400, [])
    assert words(2, 100, "a.txt", share=1.0) == (400, [])
    # Compressed text is taken for four times as much.
    assert words(3, 4 * packed, "b.txt.gz") == (400, [])
    assert words(4, 2 * packed, "b.txt.gz")[1] != []


@pytest.mark.parametrize("kind", ["wordpiece", "byte-bpe"])
def test_a_share_without_text_is_told(file, tmp_path, kind):
    with pytest.raises(ValueError, match="None of the 6 documents is in the share.*share=1e-09"):
        make_vocabulary([file], tmp_path / "v", 300, kind, share=1e-9)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt"]


def test_what_is_there_is_kept(file, tmp_path):
    (tmp_path / "vocab.txt").write_text("precious")
    with pytest.raises(FileExistsError, match="There is a file of this name already"):
        make_vocabulary([file], tmp_path / "vocab.txt", 80)
    with pytest.raises(FileExistsError, match="there is a folder of this name"):
        make_vocabulary([file], tmp_path, 80)
    with pytest.raises(FileExistsError, match="something at the output path"):
        make_vocabulary([file], tmp_path, 300, "byte-bpe")
    assert (tmp_path / "vocab.txt").read_text() == "precious"


@pytest.mark.parametrize("kind", ["wordpiece", "gpt-bpe"])
def test_an_output_that_cannot_be_is_said_before_the_corpus_is_read(file, kind):
    def read() -> None:
        raise AssertionError("a document was read")

    with pytest.raises(OSError, match="Nothing can be written there"):
        make_vocabulary([file], "/proc/vocab.txt", 300, kind, on_document=read)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (b"b\xe4d\n", {}, r"a\.txt, line 1: byte 2 of the line is not UTF-8"),
        (b"\n", {}, "The corpus holds no text"),
        (b"text\n", {"size": 3}, "has no room"),
        (b"text\n", {"share": 0.0}, "Received: share=0.0"),
    ],
)
def test_bad_input_leaves_nothing(tmp_path, content, arguments, message):
    (tmp_path / "a.txt").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        make_vocabulary([str(tmp_path / "a.txt")], tmp_path / "v.txt", **{"size": 80, **arguments})
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
