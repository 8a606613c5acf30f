"""Small corpora over the tiny vocabulary, the same ones for the same seed."""

import random
from pathlib import Path

WORDS = "the films was played very good dullest 电影 好 not. greatly".split()


def write_corpus(file: Path, documents: int, seed: int = 3) -> str:
    """Writes documents of one to six lines of two to nine words; returns the file's name."""
    draw = random.Random(seed)
    texts = []
    for _ in range(documents):
        lines = [
            " ".join(draw.choices(WORDS, k=draw.randint(2, 9))) for _ in range(draw.randint(1, 6))
        ]
        texts.append("\n".join(lines))
    file.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return str(file)
