import json

from kerazoo.training.plain_json import plain_json


def test_what_is_not_finite_becomes_null():
    value = {"a": [1.5, float("nan"), (float("inf"), "电")], "b": {"c": -float("inf")}, "d": None}
    text = plain_json(value)
    assert json.loads(text) == {"a": [1.5, None, [None, "电"]], "b": {"c": None}, "d": None}
    assert "电" in text


def test_several_lines():
    assert plain_json({"a": 1}, indent=2) == '{\n  "a": 1\n}'
