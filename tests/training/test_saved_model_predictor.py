import shutil

import pytest
import tensorflow as tf

from kerazoo.training.saved_model_predictor import SavedModelPredictor


def test_answers_equal_the_tasks(tiny_saved_model, tiny_text_classifier):
    predictor = SavedModelPredictor(tiny_saved_model)
    assert predictor.labels == ["bad", "good", "mixed"]
    assert predictor.pairs is False
    texts = ["the film was good", "", "电影好", "dull dull dull dull dull", "x"]
    answers = predictor.answer({"text": texts}, batch_size=2)
    for answer, expected in zip(answers, tiny_text_classifier.classify(texts), strict=True):
        assert answer["label"] == expected["label"]
        assert answer["score"] == pytest.approx(expected["score"], abs=1e-6)
        assert answer["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)
    assert predictor.answer({"text": []}, batch_size=2) == []


def test_the_highest_version_is_taken(tiny_saved_model, tmp_path):
    for version in ("2", "10", "notes"):
        shutil.copytree(tiny_saved_model, tmp_path / version)
    assert SavedModelPredictor(tmp_path).folder == tmp_path / "10"


def test_pairs_are_answered(pair_classifier, tmp_path):
    predictor = SavedModelPredictor(pair_classifier.export(tmp_path / "pairs"))
    assert predictor.pairs is True
    columns = {"text": ["good", "bad"], "text_pair": ["a film", ""]}
    answers = predictor.answer(columns, batch_size=3)
    for answer, expected in zip(answers, pair_classifier.classify(columns), strict=True):
        assert answer["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)


def test_a_saved_model_of_something_else_is_refused(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: {"y": 2 * x}, [tf.TensorSpec([None], name="x")])
    tf.saved_model.save(module, str(tmp_path / "1"), signatures={"serving_default": module.f})
    with pytest.raises(ValueError, match="description cannot be read"):
        SavedModelPredictor(tmp_path)


def test_label_names_that_are_lost_are_named(tiny_saved_model, tmp_path):
    folder = shutil.copytree(tiny_saved_model, tmp_path / "1")
    (folder / "assets.extra" / "kerazoo.json").write_text("{")
    with pytest.raises(ValueError, match="description cannot be read from .*kerazoo.json"):
        SavedModelPredictor(folder)


@pytest.mark.parametrize("name", ["saved_model.pb", "variables/variables.index"])
def test_a_damaged_saved_model_is_named(tiny_saved_model, tmp_path, name):
    folder = shutil.copytree(tiny_saved_model, tmp_path / "1")
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    with pytest.raises(ValueError, match=r"/1 cannot be loaded; it is damaged") as caught:
        SavedModelPredictor(folder)
    assert "\n" not in str(caught.value)
