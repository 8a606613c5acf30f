"""Each fault that a stock server would meet, in a real SavedModel, from end to end."""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from kerazoo.export import verify
from kerazoo.export.server_session import SessionUnavailableError
from kerazoo.export.verification_report import Status
from kerazoo.export.verify import verify_saved_model
from kerazoo.export.warmup import WARMUP_FILE, write_warmup

X = tf.TensorSpec([None, 5], name="x")
TEXT = tf.TensorSpec([None], tf.string, name="text")
ROWS = np.arange(15, dtype=np.float32).reshape(3, 5)


def statuses(report):
    return {check.name: check.status for check in report.checks}


def failed(report):
    return {check.name: check.message for check in report.failed}


def test_a_good_export_passes_every_check(text_classifier_dir):
    report = verify_saved_model(text_classifier_dir.parent)
    assert set(statuses(report).values()) == {Status.OK}, str(report)
    assert list(statuses(report)) == [
        *("layout", "file size", "readable", "inputs", "outputs", "python ops", "xla", "op lists"),
        *("weights", "warm-up file", "warm-up coverage", "C++ load", "replay", "values"),
        *("batches", "neighbours", "same answers"),
    ]
    assert report.ok and report.path == text_classifier_dir
    assert report.needs_server == ">= 2.12"
    assert set(report.signatures) == {"serving_default", "features"}
    assert str(report).endswith("Stock TensorFlow Serving >= 2.12 should serve this folder.")
    assert json.loads(json.dumps(report.to_dict()))["ok"] is True


@pytest.fixture
def copy_of_keras_model(keras_models_dir, tmp_path):
    """A function that copies one of Keras's SavedModels, to be given a warm-up file."""

    def copy(name):
        return Path(shutil.copytree(keras_models_dir / name / "1", tmp_path / name / "1"))

    return copy


@pytest.mark.slow
def test_a_keras_model_in_a_module_fails_in_the_server_alone(copy_of_keras_model):
    version_dir = copy_of_keras_model("in_module")
    rows = np.ones((3, 31), np.float32)
    write_warmup(version_dir, [("serving_default", {"x": rows})], "m")
    report = verify_saved_model(version_dir)
    assert list(failed(report)) == ["replay"]
    assert "Could not find variable" in failed(report)["replay"]
    assert "Do not save a tf.Module (or archive) that has a Keras model" in failed(report)["replay"]
    assert statuses(report)["same answers"] is Status.NOT_RUN
    answer = tf.saved_model.load(str(version_dir)).signatures["serving_default"](tf.constant(rows))
    assert answer["y"].shape == (3, 3)  # Python alone does not show it


def serve_xla_op(x):
    return {"y": xla.dynamic_update_slice(x, tf.ones([1, 2]), [0, 1])}


def serve_compiled(x):
    return {"y": tf.function(lambda a: a * 2, jit_compile=True, autograph=False)(x)}


@pytest.mark.parametrize("serve", [serve_xla_op, serve_compiled])
def test_xla_is_refused(save_model, serve):
    report = verify_saved_model(save_model(serve, X, request={"x": ROWS}))
    assert list(failed(report)) == ["xla", "replay"]
    assert "XLA compilation disabled" in failed(report)["replay"]


def test_python_code_is_refused(save_model):
    def serve(x):
        return {"y": tf.ensure_shape(tf.numpy_function(np.cos, [x], tf.float32), [None, 5])}

    report = verify_saved_model(save_model(serve, X, request={"x": ROWS}))
    assert list(failed(report)) == ["python ops", "replay"]
    assert "No OpKernel was registered to support Op 'PyFunc'" in failed(report)["replay"]
    assert report.needs_server is None


def test_a_ragged_output_is_refused(save_model, text_array):
    def serve(text):
        return {"words": tf.strings.split(text)}

    report = verify_saved_model(save_model(serve, TEXT, request={"text": text_array("a b", "c")}))
    assert list(failed(report)) == ["outputs", "replay"]
    assert "is ragged or sparse" in failed(report)["outputs"]
    assert "Tensor '' not found" in failed(report)["replay"]


def test_an_op_that_the_image_lacks_is_refused(copy_of_text_classifier, edit_saved_model):
    def change(meta_graph):
        functions = meta_graph.graph_def.library.function
        found = [node for f in functions for node in f.node_def if node.op == "Softmax"]
        found[0].op = "TFText>SoftmaxOfTomorrow"

    edit_saved_model(copy_of_text_classifier, change)
    report = verify_saved_model(copy_of_text_classifier)
    assert list(failed(report)) == ["op lists", "C++ load"]
    assert "TFText>SoftmaxOfTomorrow" in failed(report)["op lists"]
    assert "Op type not registered 'TFText>SoftmaxOfTomorrow'" in failed(report)["C++ load"]


def test_a_scalar_and_an_output_of_constant_size_are_refused(save_model):
    def serve(x):
        two = tf.size(x) * 0 + 2  # a size that the signature cannot know
        return {"total": tf.reduce_sum(x), "pair": tf.zeros([two])}

    report = verify_saved_model(save_model(serve, X, request={"x": ROWS}))
    assert list(failed(report)) == ["outputs", "batches"]
    assert "Output 'total' of signature 'serving_default' is a scalar" in failed(report)["outputs"]
    assert "has the shape (2,) for 1 row" in failed(report)["batches"]


def test_text_that_is_not_utf8_is_refused(save_model, text_array):
    def serve(text):
        return {"first": tf.strings.substr(text, 0, 2)}

    version_dir = save_model(serve, TEXT, request={"text": text_array("票价", "ab")})
    assert list(failed(verify_saved_model(version_dir))) == ["values"]


def test_padding_to_the_longest_is_a_warning(save_model, text_array):
    def serve(text):
        return {"words": tf.strings.split(text).to_tensor("")}

    report = verify_saved_model(save_model(serve, TEXT, request={"text": text_array("a b", "c")}))
    assert report.ok
    assert [check.name for check in report.warnings] == ["neighbours"]


def test_random_numbers_are_refused(save_model):
    report = verify_saved_model(
        save_model(lambda x: {"y": x + tf.random.uniform([])}, X, request={"x": ROWS})
    )
    assert "batches" in failed(report)  # and "same answers", unless the seed is fixed


def test_a_crash_is_a_failed_check_and_no_exception(save_model):
    def serve(x):
        with tf.control_dependencies([tf.raw_ops.Abort(error_msg="the graph gave up")]):
            return {"y": tf.identity(x)}

    report = verify_saved_model(save_model(serve, X, request={"x": ROWS}))
    assert list(failed(report)) == ["replay"]
    assert "SIGABRT" in failed(report)["replay"]
    assert statuses(report)["batches"] is Status.NOT_RUN


def test_a_model_that_does_not_load_is_a_failed_check(copy_of_text_classifier):
    (copy_of_text_classifier / "variables" / "variables.data-00000-of-00001").unlink()
    report = verify_saved_model(copy_of_text_classifier)
    assert list(failed(report)) == ["weights", "C++ load"]
    assert "A server could not load it" in failed(report)["C++ load"]


def test_a_missing_warmup_file_is_refused(copy_of_text_classifier):
    (copy_of_text_classifier / WARMUP_FILE).unlink()
    report = verify_saved_model(copy_of_text_classifier)
    assert list(failed(report)) == ["warm-up file"]
    assert statuses(report)["C++ load"] is Status.OK
    assert statuses(report)["replay"] is Status.NOT_RUN


@pytest.mark.slow
def test_weights_written_twice_are_a_warning(copy_of_keras_model):
    version_dir = copy_of_keras_model("exported")
    request = {"keras_tensor": np.ones((3, 31), np.float32)}
    write_warmup(version_dir, [(name, request) for name in ("serve", "serving_default")], "m")
    report = verify_saved_model(version_dir)
    assert report.ok
    assert [check.name for check in report.warnings] == ["weights"]


def test_a_folder_without_a_number_is_refused(copy_of_text_classifier, monkeypatch):
    named = copy_of_text_classifier.rename(copy_of_text_classifier.with_name("latest"))
    monkeypatch.setattr(verify, "_check_running", lambda *_: [])
    report = verify_saved_model(named)
    assert list(failed(report)) == ["layout"]
    assert "rename it, for example to" in failed(report)["layout"]
    monkeypatch.chdir(named.rename(named.with_name("0007")))
    assert verify_saved_model(".").ok


def test_a_file_over_two_gigabytes_is_refused_unread(copy_of_text_classifier):
    os.truncate(copy_of_text_classifier / "saved_model.pb", 2**31)  # a sparse file
    report = verify_saved_model(copy_of_text_classifier)
    assert list(failed(report)) == ["file size"]
    assert "has 2,147,483,648 bytes" in failed(report)["file size"]


def test_a_damaged_file_is_a_failed_check(copy_of_text_classifier):
    file = copy_of_text_classifier / "saved_model.pb"
    file.write_bytes(file.read_bytes()[:1000])
    report = verify_saved_model(copy_of_text_classifier)
    assert list(failed(report)) == ["readable"]
    assert report.signatures == {} and report.needs_server is None


def test_a_path_that_is_no_model_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        verify_saved_model(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="not a SavedModel"):
        verify_saved_model(tmp_path)


@pytest.fixture
def no_server_session(monkeypatch):
    """A machine whose TensorFlow has no C++ library."""

    def refuse(*_):
        raise SessionUnavailableError("No such library here.")

    monkeypatch.setattr(verify, "ServerSession", refuse)


def test_without_the_library_python_answers_and_the_report_says_so(
    no_server_session, text_classifier_dir
):
    report = verify_saved_model(text_classifier_dir)
    assert report.ok
    assert [check.name for check in report.not_run] == ["C++ load"]
    assert statuses(report)["replay"] is Status.OK
    assert "This is not proved: C++ load could not be checked here." in str(report)


def test_without_the_library_python_still_finds_faults(no_server_session, copy_of_text_classifier):
    (copy_of_text_classifier / "variables" / "variables.data-00000-of-00001").unlink()
    report = verify_saved_model(copy_of_text_classifier)
    assert list(failed(report)) == ["weights", "replay"]
    assert "Python cannot load the model" in failed(report)["replay"]


def test_without_tensorflow_text_a_text_model_is_not_run(monkeypatch, text_classifier_dir):
    monkeypatch.setattr(verify, "text_op_libraries", list)
    report = verify_saved_model(text_classifier_dir)
    assert [check.name for check in report.not_run] == ["C++ load"]
    assert "install tensorflow-text and verify again" in str(report)
