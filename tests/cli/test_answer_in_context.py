import click

from kerazoo.cli.answer_in_context import answer_in_context, is_answer_in_context

CONTEXT = "x" * 300 + " On Monday 小明 came. " + "y" * 300


def row(answer, start, end):
    return {
        "question": "Who came?",
        "context": CONTEXT,
        "answer": answer,
        "start": start,
        "end": end,
        "score": 0.75,
        "n_best": [{"answer": answer, "score": 0.75}, {"answer": "", "score": 0.25}],
    }


def test_the_answer_is_marked_in_what_stands_around_it():
    start = CONTEXT.index("小明")
    shown = answer_in_context(row("小明", start, start + 2))
    assert "\x1b[" in shown
    question, passage, best = click.unstyle(shown).splitlines()
    assert question == "Who came?"
    assert passage == "…" + CONTEXT[start - 240 : start + 242] + "…"
    assert best == f"75%, characters {start} to {start + 2}; best: 小明 (75%), no answer (25%)"
    marked = shown.splitlines()[1].split("小明")
    assert marked[0].endswith("m") and marked[1].startswith("\x1b[0m")


def test_no_answer_is_said():
    assert click.unstyle(answer_in_context(row("", 0, 0))).splitlines()[1] == "no answer"


def test_other_answers_are_not_shown_so():
    assert is_answer_in_context(row("", 0, 0))
    assert not is_answer_in_context({"text": "a", "label": "good"})
