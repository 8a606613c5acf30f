import json
import subprocess
import sys

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.export.saved_model import export_task
from kerazoo.export.signatures import read_signatures
from kerazoo.export.verify import verify_saved_model
from kerazoo.export.warmup import read_warmup

# One of the texts is too long on purpose; `classify` says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*texts (is|are) longer than")

TEXTS = ["a good film", "", "电影 好 🎉", "very " * 40]


def call(version, name="serving_default", **inputs):
    signature = tf.saved_model.load(str(version)).signatures[name]
    return {
        k: v.numpy() for k, v in signature(**{k: tf.constant(v) for k, v in inputs.items()}).items()
    }


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_text_in_answer_out(tiny_saved_model, tiny_text_classifier, rows):
    loaded = tf.saved_model.load(str(tiny_saved_model)).signatures["serving_default"]
    answers = loaded(text=tf.constant(TEXTS[:rows], dtype=tf.string, shape=(rows,)))
    expected = tiny_text_classifier.classify(TEXTS[:rows])
    assert [name.decode() for name in answers["label"].numpy()] == [a["label"] for a in expected]
    assert answers["probabilities"].shape == (rows, 3)
    for row, answer in enumerate(expected):
        np.testing.assert_allclose(
            answers["probabilities"][row], list(answer["probabilities"].values()), atol=1e-5
        )
        assert float(answers["score"][row]) == pytest.approx(answer["score"], abs=1e-5)


@pytest.mark.parametrize("shape", [(1, 7), (3, 9), (2, 4)])
def test_ready_ids_of_any_width(tiny_saved_model, tiny_text_classifier, shape):
    random = np.random.default_rng(0)
    features = {
        "token_ids": random.integers(31, size=shape).astype("int32"),
        "segment_ids": np.zeros(shape, "int32"),
        "padding_mask": np.ones(shape, "int32"),
    }
    answers = call(tiny_saved_model, "features", **features)
    logits = keras.ops.convert_to_numpy(tiny_text_classifier(features))
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    np.testing.assert_allclose(answers["probabilities"], expected, atol=1e-5)


def test_stock_serving_would_serve_it(tiny_saved_model):
    report = verify_saved_model(tiny_saved_model)
    assert report.ok, str(report)


def test_signatures_warm_up_and_metadata(tiny_saved_model, tiny_vocabulary):
    signatures = read_signatures(tiny_saved_model)
    assert set(signatures) == {"serving_default", "features"}
    assert len(read_warmup(tiny_saved_model)) == 2
    extra = tiny_saved_model / "assets.extra"
    metadata = json.loads((extra / "kerazoo.json").read_text(encoding="utf-8"))
    assert metadata["task"] == "text-classification"
    assert metadata["labels"] == ["bad", "good", "mixed"]
    assert (extra / "vocabulary.txt").read_text(encoding="utf-8").split("\n")[
        :31
    ] == tiny_vocabulary


@pytest.mark.slow
def test_a_fresh_process_needs_only_tensorflow_and_its_text_ops(
    tiny_saved_model, tiny_text_classifier
):
    code = (
        "import sys, json, tensorflow as tf, tensorflow_text\n"
        "answer = tf.saved_model.load(sys.argv[1]).signatures['serving_default']\n"
        "out = answer(text=tf.constant(['a good film', '电影 好']))\n"
        "assert not {'kerazoo', 'keras_hub', 'keras_nlp'} & set(sys.modules)\n"
        "print(json.dumps([name.decode() for name in out['label'].numpy()]))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tiny_saved_model)], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    expected = [a["label"] for a in tiny_text_classifier.classify(["a good film", "电影 好"])]
    assert json.loads(result.stdout.splitlines()[-1]) == expected


def test_pairs_ask_for_both_texts(make_tiny_text_classifier, tmp_path):
    task = make_tiny_text_classifier(pairs=True)
    version = export_task(task, tmp_path / "pairs")
    answers = call(version, text=["a good film"], text_pair=["dull"])
    expected = task.classify((["a good film"], ["dull"]))
    np.testing.assert_allclose(answers["score"], [expected[0]["score"]], atol=1e-5)


def test_versions_count_up_and_nothing_else_is_left(make_tiny_text_classifier, tmp_path):
    task = make_tiny_text_classifier()
    base = tmp_path / "model"
    (base / "7").mkdir(parents=True)
    (base / "7" / "saved_model.pb").write_bytes(b"an older one")
    assert export_task(task, base) == base / "8"
    assert sorted(child.name for child in base.iterdir()) == ["7", "8"]
    assert (base / "7" / "saved_model.pb").read_bytes() == b"an older one"


def test_a_failed_export_leaves_nothing(make_tiny_text_classifier, tmp_path, monkeypatch):
    task = make_tiny_text_classifier()

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tf.saved_model, "save", fail)
    with pytest.raises(OSError, match="No space left"):
        export_task(task, tmp_path / "model")
    assert list((tmp_path / "model").iterdir()) == []


def test_other_folders_are_refused(tiny_text_classifier, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(NotADirectoryError, match="Received: base_dir="):
        export_task(tiny_text_classifier, tmp_path / "file")
    (tmp_path / "preset").mkdir()
    (tmp_path / "preset" / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="config.json"):
        export_task(tiny_text_classifier, tmp_path / "preset")
    assert [child.name for child in (tmp_path / "preset").iterdir()] == ["config.json"]


def test_a_version_of_another_model_is_no_place(tiny_text_classifier, tmp_path):
    version = tmp_path / "model" / "3"
    version.mkdir(parents=True)
    (version / "saved_model.pb").write_text("a graph")
    with pytest.raises(ValueError, match=r"3' is a version of a served model"):
        export_task(tiny_text_classifier, version / "assets" / "inner")
    assert [child.name for child in version.iterdir()] == ["saved_model.pb"]


def test_half_precision_serves_float32(make_tiny_backbone, tiny_tokenizer, tmp_path):
    import kerazoo

    preprocessor = kerazoo.TextClassifierPreprocessor(tiny_tokenizer, sequence_length=9)
    backbone = make_tiny_backbone(dtype="mixed_bfloat16")
    task = kerazoo.TextClassifier(backbone, num_classes=2, preprocessor=preprocessor)
    version = export_task(task, tmp_path / "half")
    assert call(version, text=["good"])["probabilities"].dtype == np.float32


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax"])
def test_a_task_of_another_backend_exports_too(backend, make_tiny_text_classifier, tmp_path):
    """The task is saved here and exported by a process on the other backend."""
    task = make_tiny_text_classifier()
    task.save_to_preset(str(tmp_path / "preset"))
    code = (
        "import sys, keras, kerazoo\n"
        "task = kerazoo.TextClassifier.from_preset(sys.argv[1])\n"
        "print(keras.config.backend(), task.export(sys.argv[2]))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "preset"), str(tmp_path / "model")],
        capture_output=True,
        text=True,
        env={**__import__("os").environ, "KERAS_BACKEND": backend},
    )
    assert result.returncode == 0, result.stderr
    used, version = result.stdout.splitlines()[-1].split(maxsplit=1)
    assert used == backend
    np.testing.assert_allclose(
        call(version, text=TEXTS)["score"], [a["score"] for a in task.classify(TEXTS)], atol=1e-5
    )
