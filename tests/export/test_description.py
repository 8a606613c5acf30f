import shutil

import pytest

from kerazoo.export.description import DESCRIPTION_FILE, read_description


def test_an_export_describes_itself(tiny_saved_model):
    description = read_description(tiny_saved_model)
    assert description["task"] == "text-classification"
    assert description["labels"] == ["bad", "good", "mixed"]


@pytest.mark.parametrize("content", [None, "", "{", "[]", "{}", '{"task": 3}', "\xff"])
def test_one_that_cannot_be_read_is_named(tiny_saved_model, tmp_path, content):
    folder = shutil.copytree(tiny_saved_model, tmp_path / "1")
    (folder / DESCRIPTION_FILE).unlink()
    if content is not None:
        (folder / DESCRIPTION_FILE).write_text(content, encoding="latin-1")
    with pytest.raises(ValueError, match=r"description cannot be read from .*1/assets\.extra/ker"):
        read_description(folder)
