"""What an answer that does not look at the question is worth: the same part of every passage.

Command:   .venv/bin/python benchmarks/constant_answer.py FILE --validation-fraction 0.2
Time:      seconds

Task:      the questions of FILE (.json of SQuAD or CMRC 2018, .jsonl) that `kerazoo finetune
           extractive-qa --train FILE` holds out under the same --validation-fraction and --seed.
Sides:     30 parts of every passage (runs of words, or of characters where answers are Chinese),
           and no answer; the best by F1 is printed, chosen on the questions it is measured on.
Measured:  exact match and F1, of Chinese answers CMRC 2018's.
"""

import argparse
import json

from kerazoo.data.questions import read_questions
from kerazoo.metrics.constant_answer import best_constant_answer
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.extractive_qa import ExtractiveQAForm


def main() -> None:
    """Parse the options, read the questions and measure."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", metavar="FILE", help="questions with answers")
    parser.add_argument("--validation-fraction", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    config = FinetuneConfig(validation_fraction=given.validation_fraction, seed=given.seed)
    table = read_questions(given.questions)
    if note := table.skipped_note():
        print(note)
    form = ExtractiveQAForm()
    held_out = table.take(form.split(table, config)[1])
    right = [[answer.text for answer in answers] for answers in held_out.columns["answers"]]
    best = best_constant_answer(held_out.columns["context"], right)
    if given.json:
        print(json.dumps({"rows": len(held_out), "name": best.name, **best.scores}))
        return
    print(f"Best constant answer to {len(held_out)} held-out questions, {best.name}:")
    print(form.summary(best.scores))


if __name__ == "__main__":
    main()
