import dataclasses
import gzip
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from kerazoo.conversion.locked_output import locked_output
from kerazoo.data.manifest import MANIFEST_FILE, UNFINISHED_FOLDER
from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import check_vocabulary, parse_records, read_manifest, read_shards
from kerazoo.data.unfinished_folder import UnfinishedFolder

SMALL = PrepareSettings(sequence_length=19, documents_per_block=4, blocks_per_shard=2)


def contents(folder):
    """The bytes of every file by its name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def rows_of(folder):
    manifest = read_manifest(folder)
    dataset = read_shards(folder).batch(64).map(lambda records: parse_records(records, manifest))
    batches = list(dataset.as_numpy_iterator())
    return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}


@pytest.fixture(scope="module")
def corpus_file(corpus):
    return corpus(35)


@pytest.fixture(scope="module")
def prepared(corpus_file, tiny_tokenizer, tmp_path_factory):
    """35 documents in blocks of 4, two a shard: 8 blocks and 3 documents, 5 shards."""
    folder = tmp_path_factory.mktemp("prepared") / "shards"
    prepare([corpus_file], tiny_tokenizer, folder, SMALL)
    return folder


def test_a_folder_of_shards(prepared, tiny_tokenizer):
    manifest = read_manifest(prepared)
    assert manifest.shard_names == [f"shard-{number:05d}.tfrecord" for number in range(5)]
    assert manifest.counts.documents == 35
    rows = rows_of(prepared)
    assert manifest.rows == len(rows["token_ids"]) == sum(s.counts.rows for s in manifest.shards)
    assert manifest.counts.tokens == rows["padding_mask"].sum()
    assert manifest.counts.random_next == rows["next_sentence_label"].sum()
    check_vocabulary(manifest, tiny_tokenizer)
    assert not (prepared / UNFINISHED_FOLDER).exists()


def test_rows_are_pairs_as_a_tokenizer_packs_them(prepared, tiny_tokenizer):
    rows = rows_of(prepared)
    start, separator, end, pad = tiny_tokenizer.template_token_ids
    specials = np.isin(rows["token_ids"], [start, separator, end, pad])
    continuations = np.array([e.startswith("##") for e in tiny_tokenizer.get_vocabulary()])
    for number, ids in enumerate(rows["token_ids"]):
        length = rows["padding_mask"][number].sum()
        middle, last = np.flatnonzero(ids == separator)
        assert (ids[0], last) == (start, length - 1)
        assert np.all(ids[length:] == pad)
        expected = (np.arange(len(ids)) > middle) & (np.arange(len(ids)) < length)
        np.testing.assert_array_equal(rows["segment_ids"][number], expected)
        # Words start on pieces that continue none, and on what is left of a word that was cut.
        starts = ~specials[number] & ~continuations[ids]
        starts[[1, middle + 1]] = True
        np.testing.assert_array_equal(rows["word_starts"][number], starts)


def test_masks_that_would_not_be_stored_are_refused(corpus_file, tiny_tokenizer, tmp_path):
    settings = dataclasses.replace(SMALL, masking="ngram")
    with pytest.raises(ValueError, match="static_masks=1 or more. Received: masking='ngram'"):
        prepare([corpus_file], tiny_tokenizer, tmp_path / "out", settings)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_another_run_writes_is_left_alone(corpus_file, tiny_tokenizer, tmp_path):
    with (
        locked_output(tmp_path / "out"),
        pytest.raises(BlockingIOError, match="being written to by process"),
    ):
        prepare([corpus_file], tiny_tokenizer, tmp_path / "out", SMALL)
    assert os.listdir(tmp_path) == []
    prepare([corpus_file], tiny_tokenizer, tmp_path / "out", SMALL)
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("setting", [{"seed": 1}, {"documents_per_block": 5}])
def test_settings_change_the_rows(prepared, corpus_file, tiny_tokenizer, tmp_path, setting):
    settings = PrepareSettings(**{**SMALL.__dict__, **setting})
    prepare([corpus_file], tiny_tokenizer, tmp_path / "other", settings)
    assert read_manifest(tmp_path / "other").settings == settings
    name = "shard-00000.tfrecord"
    assert (tmp_path / "other" / name).read_bytes() != (prepared / name).read_bytes()


def test_full_sentences_keep_every_token(corpus_file, tiny_tokenizer, tmp_path):
    settings = PrepareSettings(objective="bert-mlm", sequence_length=19, documents_per_block=4)
    prepare([corpus_file], tiny_tokenizer, tmp_path / "rows", settings)
    rows = rows_of(tmp_path / "rows")
    assert set(rows) == {"token_ids", "segment_ids", "padding_mask", "word_starts"}
    lines = Path(corpus_file).read_text(encoding="utf-8").split("\n")
    expected = tiny_tokenizer.tokenize(lines).flat_values.numpy()
    specials = tiny_tokenizer.template_token_ids
    ids = rows["token_ids"][~np.isin(rows["token_ids"], specials)]
    np.testing.assert_array_equal(ids, expected)
    assert not rows["segment_ids"].any()


def test_a_language_model_predicts_every_token_of_a_block(
    corpus_file, tiny_bpe_tokenizer, tmp_path
):
    settings = PrepareSettings(objective="gpt", sequence_length=23, documents_per_block=50)
    prepare([corpus_file], tiny_bpe_tokenizer, tmp_path / "rows", settings)
    rows = rows_of(tmp_path / "rows")
    assert set(rows) == {"token_ids", "padding_mask"}
    assert rows["token_ids"].shape[1] == 24
    text = Path(corpus_file).read_text(encoding="utf-8")
    documents = text.removesuffix("\n").split("\n\n")
    expected = []
    for document in documents:
        expected += [
            *tiny_bpe_tokenizer.tokenize(document).numpy(),
            tiny_bpe_tokenizer.end_token_id,
        ]
    targets = rows["token_ids"][:, 1:][rows["padding_mask"][:, 1:] == 1]
    np.testing.assert_array_equal(targets, expected[1:])
    assert rows["token_ids"][0, 0] == expected[0]
    np.testing.assert_array_equal(rows["token_ids"][1:, 0], rows["token_ids"][:-1, -1])


def test_an_interrupted_run_goes_on_where_it_was(prepared, corpus_file, tiny_tokenizer, tmp_path):
    """Without SIGKILL: the third shard fails."""
    folder, seen = tmp_path / "shards", []

    def fail(shard, is_kept):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(shard.name)

    with pytest.raises(KeyboardInterrupt):
        prepare([corpus_file], tiny_tokenizer, folder, SMALL, on_shard=fail)
    with pytest.raises(FileNotFoundError, match="not finished. Run the same"):
        read_manifest(folder)
    with pytest.raises(ValueError, match=r"unfinished run of another seed.*seed=8 instead of 0"):
        prepare(
            [corpus_file], tiny_tokenizer, folder, PrepareSettings(**{**SMALL.__dict__, "seed": 8})
        )
    # A shard that was damaged since is written again.
    (folder / "shard-00001.tfrecord").write_bytes(b"damaged")
    kept = {}
    prepare(
        [corpus_file], tiny_tokenizer, folder, SMALL, on_shard=lambda s, k: kept.update({s.name: k})
    )
    assert [kept[f"shard-{number:05d}.tfrecord"] for number in range(5)] == [
        True,
        False,
        True,
        False,
        False,
    ]
    assert contents(folder) == contents(prepared)


def test_another_corpus_does_not_mix_with_an_unfinished_one(corpus, tiny_tokenizer, tmp_path):
    def fail(shard, is_kept):
        if shard.name.endswith("1.tfrecord"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        prepare([corpus(25)], tiny_tokenizer, tmp_path / "a", SMALL, on_shard=fail)
    with pytest.raises(ValueError, match="The corpus has changed since the unfinished run"):
        prepare([corpus(25, seed=4)], tiny_tokenizer, tmp_path / "a", SMALL)
    # The first shard is the same, and the second one is not there any more.
    with pytest.raises(ValueError, match="The corpus has changed since the unfinished run"):
        prepare([corpus(8)], tiny_tokenizer, tmp_path / "a", SMALL)


_WRITE_WITH_TWO_WORKERS = """
import time
from kerazoo.data.document_blocks import document_blocks, shard_sources
from kerazoo.data.plain_text import read_documents
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.prepare_worker import write_in_processes
if __name__ == "__main__":
    settings = {settings!r}
    blocks = document_blocks(read_documents([{corpus!r}]), settings.documents_per_block)
    sources = shard_sources(blocks, settings.blocks_per_shard)
    for shard in write_in_processes(sources, {folder!r}, settings, workers=2):
        print(shard.name, flush=True)
        time.sleep(0.2)
"""


@pytest.mark.slow
def test_two_workers_write_the_same_bytes_even_when_killed(
    prepared, corpus_file, tiny_tokenizer, tmp_path
):
    """SIGKILL of the parent when three shards are finished; its workers end with it."""
    folder, script = tmp_path / "shards", tmp_path / "run.py"
    UnfinishedFolder(folder, tiny_tokenizer, SMALL)
    script.write_text(
        _WRITE_WITH_TWO_WORKERS.format(settings=SMALL, corpus=corpus_file, folder=str(folder))
    )
    command = [sys.executable, str(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        for _ in range(3):
            assert process.stdout.readline().startswith(b"shard-")
        process.kill()
        # The pipe is closed when the last worker has ended.
        started = time.monotonic()
        process.stdout.read()
        assert time.monotonic() - started < 20
    assert not (folder / MANIFEST_FILE).exists()
    before = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.tfrecord")}
    kept = {}
    prepare(
        [corpus_file],
        tiny_tokenizer,
        folder,
        SMALL,
        on_shard=lambda shard, is_kept: kept.update({shard.name: is_kept}),
    )
    assert sum(kept.values()) >= 3
    for name in (name for name, is_kept in kept.items() if is_kept):
        assert (folder / name).stat().st_mtime_ns == before[name]
    assert contents(folder) == contents(prepared)


@pytest.mark.parametrize(
    ("content", "settings", "message"),
    [
        (b"only one\nline\n", SMALL, r"there is only one. Put blank lines.*documents=1"),
        (b"\n \n", SMALL, "The corpus holds no text"),
        (b"a\n\nb\xe4d\n", SMALL, r"corpus\.txt, line 3: byte 2 of the line is not UTF-8"),
        (b"a\n", PrepareSettings(objective="gpt"), "needs a byte-level or GPT-1 BPE vocabulary"),
    ],
)
def test_bad_input_leaves_nothing(tiny_tokenizer, tmp_path, content, settings, message):
    (tmp_path / "corpus.txt").write_bytes(content)
    with pytest.raises(ValueError, match=message):
        prepare([str(tmp_path / "corpus.txt")], tiny_tokenizer, tmp_path / "shards", settings)
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.txt"]


def test_bytes_that_are_no_text_are_replaced_if_asked(tiny_tokenizer, tmp_path):
    (tmp_path / "corpus.txt.gz").write_bytes(gzip.compress(b"a film\nb\xe4d\n\ngood\n"))
    manifest = prepare(
        [str(tmp_path / "corpus.txt.gz")], tiny_tokenizer, tmp_path / "shards", errors="replace"
    )
    assert manifest.counts.replaced_lines == 1


def test_a_folder_with_other_content_is_kept(prepared, corpus_file, tiny_tokenizer, tmp_path):
    (tmp_path / "notes").write_text("precious")
    for folder, why in ((tmp_path, "something at the output path"), (prepared, "are complete")):
        before = contents(folder)
        with pytest.raises(FileExistsError, match=why):
            prepare([corpus_file], tiny_tokenizer, folder, SMALL)
        assert contents(folder) == before


def test_a_full_disk_is_told(corpus_file, tiny_tokenizer, tmp_path):
    settings = PrepareSettings(sequence_length=19, documents_per_block=4, blocks_per_shard=50)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # A file may have 3,000 bytes: enough for the tokenizer and not for the shard.
    resource.setrlimit(resource.RLIMIT_FSIZE, (3000, limits[1]))
    try:
        with pytest.raises(OSError, match=r"shard-00000\.tfrecord: .*File too large"):
            prepare([corpus_file], tiny_tokenizer, tmp_path / "shards", settings)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not (tmp_path / "shards").exists()


def test_memory_holds_a_few_blocks_only(tiny_tokenizer, tmp_path, monkeypatch):
    """The corpus is read as it is written: the reader is never far ahead of the writer."""
    from kerazoo.data import prepare as module

    read, ahead = [0], []

    def endless(corpus, errors, document_per_file):
        for number in range(60):
            read[0] = number + 1
            yield ["a good film", f"very {number}"]

    monkeypatch.setattr(module, "read_documents", endless)
    settings = PrepareSettings(sequence_length=19, documents_per_block=2, blocks_per_shard=1)
    written = [0]

    def look(shard, is_kept):
        written[0] += shard.counts.documents
        ahead.append(read[0] - written[0])

    prepare(["-"], tiny_tokenizer, tmp_path / "shards", settings, on_shard=look)
    # One shard is looked at first, and one block is held back.
    assert max(ahead) <= 6
    assert os.listdir(tmp_path) == ["shards"]
