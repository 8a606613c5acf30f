import json

import pytest

from kerazoo.data.squad import squad_records

SQUAD = {
    "version": "v2.0",
    "data": [
        {
            "title": "a",
            "paragraphs": [
                {
                    "context": "Ada came.",
                    "qas": [
                        {"id": "x1", "question": "Who?", "answers": [{"text": "Ada"}]},
                        {"id": "x2", "question": "Why?", "is_impossible": True, "answers": []},
                    ],
                },
                {
                    "context": "On Monday.",
                    "qas": [{"question": "When?", "id": 0}, {"question": ""}],
                },
            ],
        },
        {"title": "b", "paragraphs": []},
    ],
}
CMRC = [
    {
        "context_id": "D1",
        "context_text": "小明和猫来了。",
        "qas": [{"query_id": "D1Q0", "query_text": "谁来了？", "answers": ["小明", "小明和猫"]}],
    }
]


def records(content):
    return list(squad_records(json.dumps(content, ensure_ascii=False), "f.json"))


def test_articles_paragraphs_and_questions_are_read_in_order():
    found = records(SQUAD)
    assert [record.number for record in found] == [1, 2, 3, 4]
    assert [record.where for record in found] == [
        "f.json, question 1 (id x1)",
        "f.json, question 2 (id x2)",
        "f.json, question 3 (id 0)",
        "f.json, question 4",
    ]
    assert [record.values["context"] for record in found] == ["Ada came."] * 2 + ["On Monday."] * 2
    assert found[1].values["is_impossible"] is True


@pytest.mark.parametrize("content", [CMRC, {"data": CMRC, "version": "1"}])
def test_cmrcs_own_layout_gets_squads_names(content):
    (record,) = records(content)
    assert record.where == "f.json, question 1 (id D1Q0)"
    assert record.values["question"] == "谁来了？"
    assert record.values["context"] == "小明和猫来了。"
    assert record.values["answers"] == ["小明", "小明和猫"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "f.json, line 1: this is not JSON"),
        ("3", "f.json: expected an object with.*Received: int"),
        ('{"text": []}', "f.json: expected.*an object with the keys 'text'"),
        ('[{"title": "a"}]', "f.json, article 1: expected"),
        ('[{"paragraphs": {}}]', "f.json, article 1: `paragraphs` must be a list"),
        ('[{"paragraphs": [{"context": "a"}]}]', "passage after question 0 has no list"),
        ('[{"paragraphs": [{"context": "a", "qas": [3]}]}]', "f.json, question 1: .*int"),
        ("[" * 100_000, "nested too deeply|not JSON"),
    ],
)
def test_another_layout_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        list(squad_records(text, "f.json"))
