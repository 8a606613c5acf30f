import importlib.util

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.export import server_session
from kerazoo.export.server_session import (
    ModelError,
    ServerSession,
    SessionUnavailableError,
    text_op_libraries,
)
from kerazoo.export.signatures import read_signatures

X = tf.TensorSpec([None, 5], name="x")
ROWS = np.arange(15, dtype=np.float32).reshape(3, 5)


@pytest.fixture(scope="module")
def session(text_classifier_dir):
    with ServerSession(text_classifier_dir, timeout=60) as session:
        yield session


@pytest.fixture(scope="module")
def signatures(text_classifier_dir):
    return read_signatures(text_classifier_dir)


@pytest.mark.parametrize("kind", ["bytes", "str", "unicode array"])
def test_texts_are_answered(session, signatures, text_array, kind):
    texts = {
        "bytes": text_array("the match was a draw!", "股票涨 😀"),
        "str": np.array(["the match was a draw!", "股票涨 😀"], dtype=object),
        "unicode array": np.array(["the match was a draw!", "股票涨 😀"]),
    }[kind]
    outputs = session.run(signatures["serving_default"], {"text": texts})
    assert outputs["label"].shape == (2,) and outputs["label"].dtype == object
    assert set(outputs["label"]) <= {b"business", b"sport", b"tech"}
    np.testing.assert_allclose(outputs["probabilities"].sum(-1), 1, atol=1e-6)
    best = [[b"business", b"sport", b"tech"][i] for i in outputs["probabilities"].argmax(-1)]
    assert outputs["label"].tolist() == best


def test_numbers_are_answered_in_another_memory_order(session, signatures):
    token_ids = np.asfortranarray(np.arange(14, dtype=np.int32).reshape(2, 7))
    outputs = session.run(signatures["features"], {"token_ids": token_ids})
    assert outputs["sequence_output"].shape == (2, 7, 40)
    np.testing.assert_allclose(
        outputs["sequence_output"].mean(1), outputs["pooled_output"], atol=1e-6
    )


def test_a_refused_request_does_not_end_the_session(session, signatures):
    with pytest.raises(ModelError, match="not in"):
        session.run(signatures["features"], {"token_ids": np.full((1, 7), 4000, np.int32)})
    assert session.is_alive
    assert session.tensorflow_version == tf.__version__


def test_a_model_that_does_not_load_is_said(copy_of_text_classifier):
    (copy_of_text_classifier / "variables" / "variables.index").write_bytes(b"damaged")
    with pytest.raises(ModelError):
        ServerSession(copy_of_text_classifier, timeout=60)


def test_a_crash_is_an_error_with_the_last_words(save_model):
    def serve(x):
        with tf.control_dependencies([tf.raw_ops.Abort(error_msg="the graph gave up")]):
            return {"y": tf.identity(x)}

    version_dir = save_model(serve, X)
    signature = read_signatures(version_dir)["serving_default"]
    with ServerSession(version_dir, timeout=60) as session:
        with pytest.raises(ModelError, match=r"ended with signal SIGABRT.*the graph gave up"):
            session.run(signature, {"x": ROWS})
        assert not session.is_alive
        with pytest.raises(ModelError, match="had already ended"):
            session.run(signature, {"x": ROWS})


def test_an_endless_request_is_an_error(save_model):
    def serve(x):
        return {"y": tf.while_loop(lambda a: tf.size(a) >= 0, lambda a: (a * 1.0,), [x])[0]}

    version_dir = save_model(serve, X)
    signature = read_signatures(version_dir)["serving_default"]
    with ServerSession(version_dir, timeout=60) as session:
        session.timeout = 1
        with pytest.raises(ModelError, match="No answer within 1 seconds; if .* longer timeout"):
            session.run(signature, {"x": ROWS})
        assert not session.is_alive


def test_closing_ends_the_process_and_may_be_done_twice(text_classifier_dir):
    session = ServerSession(text_classifier_dir, timeout=60)
    assert session.is_alive
    session.close()
    session.close()
    assert not session.is_alive


def test_flags_of_the_caller_do_not_switch_xla_on(monkeypatch):
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=2")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0")
    environment = server_session._environment()
    assert "TF_XLA_FLAGS" not in environment
    assert environment["CUDA_VISIBLE_DEVICES"] == "-1"


def test_the_op_libraries_of_tensorflow_text_are_found():
    names = [library.name for library in text_op_libraries()]
    assert "_fast_wordpiece_tokenizer.so" in names and "_normalize_ops.so" in names


def stand_in_for(monkeypatch, package, spec):
    """Lets the session find another folder (or nothing) for a package."""
    real = importlib.util.find_spec
    monkeypatch.setattr(
        server_session, "find_spec", lambda name: spec if name == package else real(name)
    )


def test_tensorflow_text_may_be_missing(monkeypatch):
    stand_in_for(monkeypatch, "tensorflow_text", None)
    assert text_op_libraries() == []


def test_a_tensorflow_without_the_library_is_said(monkeypatch, tmp_path, text_classifier_dir):
    spec = importlib.util.spec_from_loader("tensorflow", None, is_package=True)
    spec.submodule_search_locations.append(str(tmp_path))
    stand_in_for(monkeypatch, "tensorflow", spec)
    with pytest.raises(SessionUnavailableError, match=r"has no libtensorflow_framework.so.2"):
        ServerSession(text_classifier_dir, timeout=60)


def test_libraries_that_cannot_be_used_are_said(monkeypatch, tmp_path, text_classifier_dir):
    for name in ("libtensorflow_framework.so.2", "libtensorflow_cc.so.2"):
        (tmp_path / name).write_text("not a library")
    spec = importlib.util.spec_from_loader("tensorflow", None, is_package=True)
    spec.submodule_search_locations.append(str(tmp_path))
    stand_in_for(monkeypatch, "tensorflow", spec)
    with pytest.raises(SessionUnavailableError, match="C\\+\\+ library cannot be used"):
        ServerSession(text_classifier_dir, timeout=60)
