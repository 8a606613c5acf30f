import json

import pytest

import kerazoo
from kerazoo.conversion.source import open_checkpoint
from kerazoo.tasks.saved_task import SavedTask, default_sequence_length, read_saved_task


@pytest.fixture(scope="module")
def presets(tmp_path_factory, make_tiny_text_classifier):
    """The same classifier as a preset and as a Hugging Face folder, both without weights."""
    folder = tmp_path_factory.mktemp("models")
    task = make_tiny_text_classifier(dropout=0.25)
    task.save_to_preset(folder / "preset")
    task.export_to_transformers(folder / "huggingface")
    for weights in [*folder.glob("*/*.weights.h5"), *folder.glob("*/*.safetensors")]:
        weights.write_bytes(b"")
    return folder


def test_a_preset_says_what_its_task_was_made_with(presets):
    saved = read_saved_task(kerazoo.TextClassifier, open_checkpoint(presets / "preset"))
    assert saved.arguments["labels"] == ["bad", "good", "mixed"]
    assert saved.arguments["dropout"] == 0.25
    assert not {"backbone", "preprocessor"} & set(saved.arguments)
    assert (saved.packing["sequence_length"], saved.sequence_length, saved.limit) == (9, 9, 11)
    assert "tokenizer" not in saved.packing


def test_another_task_finds_the_backbone_alone(presets):
    saved = read_saved_task(kerazoo.TokenClassifier, open_checkpoint(presets / "preset"))
    assert saved == SavedTask({}, {}, 11)
    assert saved.sequence_length == 11


def test_a_foreign_checkpoint_says_its_labels(presets):
    saved = read_saved_task(kerazoo.TextClassifier, open_checkpoint(presets / "huggingface"))
    assert saved.arguments["labels"] == ["bad", "good", "mixed"]
    assert (saved.packing, saved.sequence_length) == ({}, 11)
    source = open_checkpoint(presets / "huggingface")
    assert read_saved_task(kerazoo.TokenClassifier, source).arguments == {}


def test_a_damaged_file_is_named(presets, tmp_path):
    for name in ("config.json", "task.json", "preprocessor.json"):
        content = (presets / "preset" / name).read_text()
        (tmp_path / name).write_text(content[: len(content) // 2] if name[0] == "t" else content)
    assert json.loads((tmp_path / "config.json").read_text())
    with pytest.raises(ValueError, match=r"task\.json"):
        read_saved_task(kerazoo.TextClassifier, open_checkpoint(tmp_path))


def test_rows_are_as_long_as_the_backbone_reads_up_to_a_limit():
    assert [default_sequence_length(limit) for limit in (37, 2048, None)] == [37, 512, 512]
