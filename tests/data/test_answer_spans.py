import pytest

from kerazoo.data.answer_spans import AnswerSpan, answer_spans

CONTEXT = "On Monday 小明 came 😀 with Ada.\u3000 \n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"answers": [{"text": "小明", "answer_start": 10}]}, [("小明", 10)]),
        (
            {"answers": [{"text": "Ada", "answer_start": 25}, {"text": "小明"}]},
            [("Ada", 25), ("小明", 10)],
        ),
        ({"answers": ["Ada"]}, [("Ada", 25)]),
        ({"answers": {"text": ["Ada"], "answer_start": [25]}}, [("Ada", 25)]),
        ({"answers": {"text": [], "answer_start": []}}, []),
        ({"answers": []}, []),
        ({"answer": "Ada", "answer_start": 25}, [("Ada", 25)]),
        ({"answer": "Ada"}, [("Ada", 25)]),
        ({"answer": "", "answer_start": -1}, []),
        ({"answer": None}, []),
        ({"is_impossible": True}, []),
        ({"is_impossible": True, "answers": None}, []),
        ({"is_impossible": True, "answers": []}, []),
        ({"is_impossible": True, "answers": [{"text": "", "answer_start": -1}, ""]}, []),
        ({"is_impossible": True, "answers": {"text": [], "answer_start": []}}, []),
        ({"is_impossible": True, "answer": "", "answer_start": -1}, []),
        ({"is_impossible": True, "answers": [], "plausible_answers": [{"text": "Ada"}]}, []),
        ({"is_impossible": False, "answers": ["Ada"]}, [("Ada", 25)]),
        ({"is_impossible": None, "answers": ["Ada"]}, [("Ada", 25)]),
    ],
)
def test_answers_come_in_many_forms(given, expected):
    found = answer_spans({"context": CONTEXT, **given}, "a.jsonl, line 1")
    assert found == [AnswerSpan(*answer) for answer in expected]
    for text, start in found:
        assert CONTEXT[start : start + len(text)] == text


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"answer": "小明", "answer_start": 9}, "does not begin at character 9.*it begins at 10"),
        ({"answer": "Eve", "answer_start": 9}, "it is nowhere in it"),
        ({"answer": "Eve"}, "the answer is not in its context"),
        ({"answer": "Ada", "answer_start": -3}, "does not begin at character -3"),
        ({"answer": "Ada", "answer_start": "25"}, "must be a number of characters"),
        ({"answer": 3, "answer_start": 1}, "`answer` must be a string"),
        ({"answers": [{"text": "", "answer_start": 1}]}, "an answer is empty"),
        ({"answer": " ", "answer_start": 9}, "an answer is empty.*answer=' '"),
        ({"answers": [{"text": "Ada", "answer_start": 25}, "\u3000 \n"]}, "an answer is empty"),
        ({"answers": [3]}, "an answer must be an object"),
        ({"answers": "Ada"}, "`answers` must be a list"),
        ({"answers": {"text": ["Ada"], "answer_start": []}}, "as many `text` as"),
        ({}, 'says "is_impossible": true'),
        ({"is_impossible": "false", "answer": "Ada"}, "true or false.*is_impossible='false'"),
        ({"is_impossible": "", "answer": "Ada"}, "`is_impossible` must be true or false"),
        ({"is_impossible": True, "answer": "Ada"}, "is true, and there is an answer.*answer='Ada'"),
        ({"is_impossible": True, "answers": ["", {"text": "Ada", "answer_start": 25}]}, "='Ada'$"),
        ({"is_impossible": True, "answers": {"text": ["Ada"], "answer_start": [25]}}, "is true,"),
        ({"is_impossible": True, "answers": "Ada"}, "`answers` must be a list"),
        ({"is_impossible": 1}, "`is_impossible` must be true or false.*=1$"),
    ],
)
def test_bad_answers_are_named(given, message):
    with pytest.raises(ValueError, match=f"^a.jsonl, line 2: .*{message}"):
        answer_spans({"context": CONTEXT, **given}, "a.jsonl, line 2")
