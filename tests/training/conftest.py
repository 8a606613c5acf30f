"""A tiny classifier in a folder, rows for it, and shards of a small corpus."""

import functools

import pytest
from tiny_corpus import write_corpus

from kerazoo.data.row import Row


@pytest.fixture(scope="session")
def preset(make_tiny_text_classifier, tmp_path_factory):
    """A preset with the labels bad, good and mixed."""
    folder = tmp_path_factory.mktemp("models") / "preset"
    make_tiny_text_classifier().save_to_preset(str(folder))
    return folder


@pytest.fixture(scope="session")
def pair_classifier(make_tiny_text_classifier):
    """A classifier of pairs with the labels no and yes."""
    return make_tiny_text_classifier(labels=["no", "yes"], pairs=True)


@pytest.fixture
def seven_rows():
    """Seven texts, an empty one and Chinese among them."""
    texts = [
        "the film was good",
        "dull",
        "",
        "电影好",
        "a very very very long play",
        "bad!",
        "is it?",
    ]
    return [Row(line, {"text": text}) for line, text in enumerate(texts, start=2)]


@pytest.fixture(scope="session")
def make_shards(tiny_tokenizer, tiny_bpe_tokenizer, tmp_path_factory):
    """A function that prepares 35 documents for an objective, rows of 19 tokens, 5 shards."""
    from kerazoo.data.prepare import prepare
    from kerazoo.data.prepare_settings import PrepareSettings

    @functools.cache
    def make(objective, documents=35, **settings):
        folder = tmp_path_factory.mktemp("shards") / objective
        corpus = write_corpus(tmp_path_factory.mktemp("corpus") / "corpus.txt", documents)
        size = {"sequence_length": 19, "documents_per_block": 4, "blocks_per_shard": 2}
        tokenizer = tiny_bpe_tokenizer if objective == "gpt" else tiny_tokenizer
        prepare([corpus], tokenizer, folder, PrepareSettings(objective, **size, **settings))
        return folder

    return make


@pytest.fixture(scope="session")
def corpus_file(tmp_path_factory):
    """A file with 23 documents."""
    return write_corpus(tmp_path_factory.mktemp("corpus") / "corpus.txt", 23)
