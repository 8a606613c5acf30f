import keras
import pytest

from kerazoo.training.tensorboard_logs import tensorboard_callbacks


def test_it_is_keras_callback(tmp_path):
    pytest.importorskip("tensorboard")
    (callback,) = tensorboard_callbacks(str(tmp_path))
    assert isinstance(callback, keras.callbacks.TensorBoard)


def test_tensorboard_that_is_not_installed(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'kerazoo\[tensorboard\]'"):
        tensorboard_callbacks("logs")


def test_no_logs():
    assert tensorboard_callbacks(None) == []
