"""Small corpora over the tiny vocabulary."""

import pytest
from tiny_corpus import write_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A function that writes a corpus of documents of words and returns its file."""

    def write(documents, name="corpus.txt", seed=3):
        return write_corpus(tmp_path_factory.mktemp("corpus") / name, documents, seed)

    return write
