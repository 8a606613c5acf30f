import pytest

from kerazoo.tasks.registry import TASKS
from kerazoo.training.config import UNUSED_SETTINGS, FinetuneConfig
from kerazoo.training.forms.registry import FORMS, form_of


def test_every_task_has_a_form_and_every_form_a_task():
    assert set(FORMS) == set(TASKS) == set(UNUSED_SETTINGS)
    for name in FORMS:
        assert form_of(name).task_name == name


def test_unused_settings_are_settings():
    fields = set(FinetuneConfig.__dataclass_fields__)
    assert all(unused <= fields for unused in UNUSED_SETTINGS.values())


def test_an_unknown_task_is_refused():
    with pytest.raises(ValueError, match="task='ner'"):
        form_of("ner")
