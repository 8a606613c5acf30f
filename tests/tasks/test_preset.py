import json

import keras_nlp
import numpy as np
import pytest
from keras import ops

import kerazoo

TEXTS = ["a good film", "a very dull film", "not bad", "the play was great", "bad"]
NAMES = ["good", "bad", "mixed", "good", "bad"]


@pytest.fixture
def task(make_tiny_text_classifier):
    return make_tiny_text_classifier(dropout=0.0)


@pytest.mark.slow_on_jax
def test_preset_round_trip_with_the_head(task, tmp_path):
    task.fit(TEXTS, NAMES, epochs=3, verbose=0)
    expected = task.predict(TEXTS, verbose=0)
    task.save_to_preset(str(tmp_path))
    copy = kerazoo.TextClassifier.from_preset(str(tmp_path))
    np.testing.assert_allclose(copy.predict(TEXTS, verbose=0), expected, atol=1e-6)
    assert copy.labels == task.labels
    assert copy.preprocessor.sequence_length == 9
    same = kerazoo.TextClassifier.from_preset(tmp_path, labels=task.labels)
    np.testing.assert_allclose(same.predict(TEXTS, verbose=0), expected, atol=1e-6)


def test_the_head_file_holds_the_head_only(task, tmp_path):
    task.fit(TEXTS, NAMES, verbose=0)  # the optimizer has slots now
    task.save_to_preset(str(tmp_path))
    assert (tmp_path / "task.weights.h5").stat().st_size < 40_000


def test_new_labels_give_a_new_head_on_the_saved_backbone(task, tmp_path):
    task.save_to_preset(str(tmp_path))
    other = kerazoo.TextClassifier.from_preset(tmp_path, labels=["x", "y"], sequence_length=7)
    assert other.labels == other.preprocessor.labels == ["x", "y"]
    assert other.preprocessor.sequence_length == 7
    np.testing.assert_array_equal(
        ops.convert_to_numpy(other.backbone.token_embedding.embeddings),
        ops.convert_to_numpy(task.backbone.token_embedding.embeddings),
    )
    numbered = kerazoo.TextClassifier.from_preset(tmp_path, num_classes=4)
    assert numbered.labels == ["0", "1", "2", "3"]


def test_a_backbone_preset_takes_a_head_but_has_no_tokenizer(make_tiny_backbone, tmp_path):
    make_tiny_backbone().save_to_preset(str(tmp_path))
    task = kerazoo.TextClassifier.from_preset(tmp_path, labels=["x", "y"])
    assert task.preprocessor is None
    features = {key: np.ones((2, 5), "int32") for key in task.backbone.input}
    assert task.predict(features, verbose=0).shape == (2, 2)
    with pytest.raises(ValueError, match="labels=None"):
        kerazoo.TextClassifier.from_preset(tmp_path)


@pytest.mark.slow
def test_quantized_task_round_trip(make_tiny_text_classifier, tmp_path):
    task = make_tiny_text_classifier()
    exact = task.predict(TEXTS, verbose=0)
    task.quantize("int8")
    quantized = task.predict(TEXTS, verbose=0)
    assert 0 < np.abs(quantized - exact).max() < 0.01
    task.save_to_preset(str(tmp_path))
    copy = kerazoo.TextClassifier.from_preset(tmp_path)
    np.testing.assert_allclose(copy.predict(TEXTS, verbose=0), quantized, atol=1e-6)


def test_a_preset_of_another_task_gives_its_backbone(task, tmp_path):
    task.save_to_preset(str(tmp_path))
    saved = json.loads((tmp_path / "task.json").read_text())
    (tmp_path / "task.json").write_text(json.dumps({**saved, "class_name": "AnotherTask"}))
    with pytest.raises(ValueError, match="labels=None"):
        kerazoo.TextClassifier.from_preset(tmp_path)
    other = kerazoo.TextClassifier.from_preset(tmp_path, labels=["x", "y"])
    assert other.preprocessor.tokenizer.vocabulary_size() == 31


def test_a_frozen_task_stays_frozen_until_told_otherwise(make_tiny_text_classifier, tmp_path):
    make_tiny_text_classifier(freeze_backbone=True).save_to_preset(str(tmp_path))
    assert len(kerazoo.TextClassifier.from_preset(tmp_path).trainable_weights) == 2
    thawed = kerazoo.TextClassifier.from_preset(tmp_path, freeze_backbone=False)
    assert len(thawed.trainable_weights) == len(thawed.weights)


def test_a_lost_head_is_an_error_and_no_random_one(task, tmp_path):
    task.save_to_preset(str(tmp_path))
    (tmp_path / "task.weights.h5").unlink()
    with pytest.raises(FileNotFoundError, match=r"no task\.weights\.h5"):
        kerazoo.TextClassifier.from_preset(tmp_path)
    assert kerazoo.TextClassifier.from_preset(tmp_path, labels=["x", "y"]).labels == ["x", "y"]
    assert kerazoo.TextClassifier.from_preset(tmp_path, load_weights=False).labels == task.labels


@pytest.mark.parametrize(
    "name",
    ["config.json", "task.json", "preprocessor.json", "model.weights.h5", "task.weights.h5"],
)
def test_a_damaged_file_of_a_preset_is_named(task, tmp_path, name):
    task.save_to_preset(str(tmp_path))
    content = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=name):
        kerazoo.TextClassifier.from_preset(tmp_path)


def test_a_misspelt_argument_is_an_error(task, tmp_path):
    task.save_to_preset(str(tmp_path))
    with pytest.raises(TypeError, match="Received: sequence_lenght"):
        kerazoo.TextClassifier.from_preset(tmp_path, sequence_lenght=7)


def test_an_earlier_preset_survives_a_failed_save(task, tmp_path, monkeypatch):
    task.save_to_preset(tmp_path / "model")
    before = {f.name: f.read_bytes() for f in (tmp_path / "model").rglob("*") if f.is_file()}

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(task.preprocessor), "save_to_preset", fail)
    with pytest.raises(OSError, match="No space"):
        task.save_to_preset(tmp_path / "model")
    after = {f.name: f.read_bytes() for f in (tmp_path / "model").rglob("*") if f.is_file()}
    assert after == before
    assert [child.name for child in tmp_path.iterdir()] == ["model"]


def test_a_preset_that_kerashub_wrote_is_trained_and_read_again(tmp_path):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "good", "dull", "film", "ada"]
    backbone = keras_nlp.models.BertBackbone(len(words), 2, 4, 20, 24, max_sequence_length=13)
    backbone.save_to_preset(str(tmp_path / "theirs"))
    keras_nlp.models.BertTokenizer(words, lowercase=True).save_to_preset(str(tmp_path / "theirs"))
    task = kerazoo.TokenClassifier.from_preset(tmp_path / "theirs", labels=["O", "B-X", "I-X"])
    assert task.preprocessor.sequence_length == 13
    task.fit(["Ada a dull  film"], [[(0, 3, "X")]], verbose=0)
    task.save_to_preset(tmp_path / "ours")
    copy = kerazoo.TokenClassifier.from_preset(tmp_path / "ours")
    assert isinstance(copy.backbone, keras_nlp.models.BertBackbone)
    (answer,) = copy.tag(["Ada a dull  film"])
    assert answer["words"] == ["Ada", "a", "dull", "film"]
    assert answer["tags"] == task.tag(["Ada a dull  film"])[0]["tags"]
