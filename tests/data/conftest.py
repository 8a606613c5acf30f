"""Small corpora over the tiny vocabulary."""

import random

import pytest

WORDS = [
    "the",
    "films",
    "was",
    "played",
    "very",
    "good",
    "dullest",
    "电影",
    "好",
    "not.",
    "greatly",
]


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    """A function that writes a corpus of documents of words and returns its file."""

    def write(documents, name="corpus.txt", seed=3):
        draw = random.Random(seed)
        texts = []
        for _ in range(documents):
            lines = [
                " ".join(draw.choices(WORDS, k=draw.randint(2, 9)))
                for _ in range(draw.randint(1, 6))
            ]
            texts.append("\n".join(lines))
        file = tmp_path_factory.mktemp("corpus") / name
        file.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
        return str(file)

    return write
