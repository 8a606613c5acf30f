import json

import pytest

import kerazoo
from kerazoo.tasks.registry import TASKS, saved_task_name, task_class


def test_each_name_leads_to_its_class():
    assert task_class("text-classification") is kerazoo.TextClassifier
    assert {"text-similarity", "multiple-choice", "causal-lm"} < set(TASKS)
    for name in TASKS:
        assert task_class(name).task_name == name


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="Received: task='translation'"):
        task_class("translation")


def test_the_task_of_a_preset(tmp_path):
    assert saved_task_name(tmp_path) is None
    (tmp_path / "task.json").write_text(json.dumps({"class_name": "TextClassifier"}))
    assert saved_task_name(tmp_path) == "text-classification"
    (tmp_path / "task.json").write_text(json.dumps({"class_name": "ImageClassifier"}))
    with pytest.raises(ValueError, match="Received: class_name='ImageClassifier'"):
        saved_task_name(tmp_path)
