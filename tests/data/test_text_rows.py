import dataclasses

import pytest

from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import read_shards
from kerazoo.data.text_rows import TextRows

SMALL = PrepareSettings(sequence_length=19, documents_per_block=4, blocks_per_shard=2)


@pytest.fixture(scope="module")
def corpus_file(corpus):
    return corpus(23)


@pytest.fixture
def make(corpus_file, tiny_tokenizer):
    def with_options(objective="bert", files=(corpus_file,), **options):
        settings = dataclasses.replace(SMALL, objective=objective)
        return TextRows(files, tiny_tokenizer, settings, **options)

    return with_options


@pytest.mark.parametrize("objective", ["bert", "bert-mlm"])
def test_rows_are_those_that_prepare_writes(make, objective, corpus_file, tiny_tokenizer, tmp_path):
    settings = dataclasses.replace(SMALL, objective=objective)
    manifest = prepare([corpus_file], tiny_tokenizer, tmp_path / "shards", settings)
    source = make(objective, group_rows=15)
    sizes = source.group_sizes(0)
    assert len(sizes) > 2
    # The second epoch, from its second group on, and the first group of the third.
    first = len(sizes) + 1
    groups = list(source.groups(first).take(len(sizes)).as_numpy_iterator())
    assert [number for number, _ in groups] == list(range(first, first + len(sizes)))
    rows = [record for _, group in [groups[-1], *groups[:-1]] for record in group]
    assert rows == list(read_shards(tmp_path / "shards").as_numpy_iterator())
    assert source.training_rows == len(rows) == sum(sizes)
    assert source.mean_tokens == manifest.counts.tokens / manifest.counts.rows
    assert source.row_format == manifest.row_format


def test_what_is_held_out_is_not_trained_on(make):
    source, whole = make(held_out_fraction=0.25), make()
    (_, trained), *_ = source.groups(0).take(1).as_numpy_iterator()
    (_, everything), *_ = whole.groups(0).take(1).as_numpy_iterator()
    held_out = list(source.held_out().as_numpy_iterator())
    assert len(held_out) == source.held_out_rows == round(0.25 * len(everything))
    assert sorted([*trained, *held_out]) == sorted(everything)


def test_other_texts_have_another_fingerprint(make, corpus):
    assert make().fingerprint == make().fingerprint
    assert make().fingerprint != make(files=[corpus(23, seed=4)]).fingerprint
    assert make().fingerprint != make("bert-mlm").fingerprint


def test_blocks_are_reported_while_they_are_counted(make):
    seen = []
    make(on_block=lambda: seen.append(1))
    assert len(seen) == 6  # 23 documents in blocks of 4


def test_standard_input_cannot_be_read_again(make):
    with pytest.raises(ValueError, match="standard input can be read only once"):
        make(files=["-"])


def test_texts_without_a_token_give_no_row(make, tmp_path):
    file = tmp_path / "empty.txt"
    file.write_text("\u200b\n\n\u200b\n")
    with pytest.raises(ValueError, match="the tokenizer finds no token"):
        make("bert-mlm", files=[str(file)])


def test_the_place_of_a_row_is_known(make):
    source = make("bert-mlm", group_rows=15)
    sizes = source.group_sizes(0)
    blocks = [source.place(group, row) for group, size in enumerate(sizes) for row in range(size)]
    assert len(set(blocks)) == source.training_rows
    assert blocks[0] == ("documents 0 to 3 of the texts", 0)
    assert blocks[-1][0] == "documents 20 to 23 of the texts"
    assert source.place(2 * len(sizes), 0) == blocks[0]
