import pytest

from kerazoo.training.task_names import TASKS, task_class


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_a_class_that_knows_its_name(name):
    assert task_class(name).task_name == name


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match="'text-classification'. Received: task='ner'"):
        task_class("ner")
