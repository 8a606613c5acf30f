import warnings

import pytest

from kerazoo.data.tokenizer_source import preset_tokenizer, vocabulary_tokenizer
from kerazoo.tokenizers.vocabulary_file import write_vocabulary


def test_presets_of_tasks_and_tokenizers_have_one(
    tiny_tokenizer, make_tiny_text_classifier, tmp_path
):
    tiny_tokenizer.save_to_preset(str(tmp_path / "tokenizer"))
    make_tiny_text_classifier().save_to_preset(str(tmp_path / "task"))
    found = preset_tokenizer(tmp_path / "task")
    assert found.get_vocabulary() == tiny_tokenizer.get_vocabulary()
    assert found.get_config() == tiny_tokenizer.get_config() | {"name": found.name}


def test_hugging_face_folders_have_one(tiny_tokenizer, make_tiny_text_classifier, tmp_path):
    make_tiny_text_classifier().export_to_transformers(tmp_path / "folder")
    assert preset_tokenizer(tmp_path / "folder").get_vocabulary() == tiny_tokenizer.get_vocabulary()


def test_a_preset_without_one_is_told(make_tiny_backbone, tmp_path):
    make_tiny_backbone().save_to_preset(str(tmp_path))
    with pytest.raises(FileNotFoundError, match="The preset has no tokenizer. Name another one"):
        preset_tokenizer(tmp_path)


def test_a_missing_vocabulary_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="The vocabulary file does not exist"):
        vocabulary_tokenizer(tmp_path / "vocab.txt")
    with pytest.raises(FileNotFoundError, match=r"holds no tokenizer. Expected vocab\.json"):
        vocabulary_tokenizer(tmp_path)


def test_a_cased_vocabulary_asks_for_its_case(tiny_vocabulary, tmp_path):
    write_vocabulary(tmp_path / "cased.txt", [*tiny_vocabulary, "London"])
    with pytest.warns(UserWarning, match="entries with capitals"):
        assert vocabulary_tokenizer(tmp_path / "cased.txt").lowercase
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not vocabulary_tokenizer(tmp_path / "cased.txt", lowercase=False).lowercase
        write_vocabulary(tmp_path / "small.txt", tiny_vocabulary)
        vocabulary_tokenizer(tmp_path / "small.txt")
