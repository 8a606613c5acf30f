from types import SimpleNamespace

import pytest

from kerazoo.training.predictor import (
    check_texts,
    is_saved_model,
    open_predictor,
    truncation_note,
)


def test_a_saved_model_is_known_by_its_file(tmp_path, preset):
    assert not is_saved_model(tmp_path)
    assert not is_saved_model(tmp_path / "missing")
    assert not is_saved_model("hf://organisation/name")
    assert not is_saved_model(preset)
    version = tmp_path / "base" / "12"
    version.mkdir(parents=True)
    assert not is_saved_model(tmp_path / "base")
    (version / "saved_model.pb").write_bytes(b"")
    assert is_saved_model(version)
    assert is_saved_model(tmp_path / "base")


def test_what_is_at_the_path_decides(preset, tiny_saved_model):
    assert type(open_predictor(preset)).__name__ == "PresetPredictor"
    assert type(open_predictor(tiny_saved_model)).__name__ == "SavedModelPredictor"


def test_a_missing_folder_and_one_without_a_model_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        open_predictor(tmp_path / "missing")
    with pytest.raises(ValueError, match="is no checkpoint"):
        open_predictor(tmp_path)


def test_pairs_and_single_texts_are_not_mixed_up():
    check_texts({"text": ["a"]}, pairs=False, where="a.tsv")
    check_texts({"text": ["a"], "text_pair": ["b"]}, pairs=True, where="a.tsv")
    with pytest.raises(ValueError, match="compares two texts, and a.tsv has no `text_pair`"):
        check_texts({"text": ["a"]}, pairs=True, where="a.tsv")
    with pytest.raises(ValueError, match="reads one text, and a.tsv has a `text_pair`"):
        check_texts({"text": ["a"], "text_pair": ["b"]}, pairs=False, where="a.tsv")


@pytest.mark.parametrize(
    ("truncated", "note"),
    [
        (0, None),
        (1, "1 of 7 texts is longer than 9 tokens and is truncated."),
        (2, "2 of 7 texts are longer than 9 tokens and are truncated."),
    ],
)
def test_truncated_texts_are_counted(truncated, note):
    predictor = SimpleNamespace(truncated=truncated, sequence_length=9)
    assert truncation_note(predictor, 7) == note
