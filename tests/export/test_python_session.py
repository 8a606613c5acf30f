import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.export.python_session import PythonSession
from kerazoo.export.server_session import ModelError
from kerazoo.export.signatures import read_signatures


@pytest.fixture(scope="module")
def session(text_classifier_dir):
    return PythonSession(text_classifier_dir)


def test_requests_are_answered_with_arrays(session, text_classifier_dir, text_array):
    signature = read_signatures(text_classifier_dir)["serving_default"]
    outputs = session.run(signature, {"text": text_array("the match was a draw!", "股票涨 😀", "")})
    assert session.is_alive
    assert outputs["probabilities"].shape == (3, 3)
    assert set(outputs["label"]) <= {b"business", b"sport", b"tech"}


def test_a_request_that_fails_is_an_error(session, text_classifier_dir):
    signature = read_signatures(text_classifier_dir)["features"]
    with pytest.raises(ModelError, match=r"(?s)InvalidArgumentError: .*is not in"):
        session.run(signature, {"token_ids": np.full((1, 7), 4000, np.int32)})


def test_the_precision_of_matrix_products_is_put_back(
    session, text_classifier_dir, text_array, monkeypatch
):
    signature = read_signatures(text_classifier_dir)["serving_default"]
    enabled = tf.config.experimental.tensor_float_32_execution_enabled
    inside = []
    monkeypatch.setattr(tf, "constant", lambda array: inside.append(enabled()) or array)
    before = enabled()
    session.run(signature, {"text": tf.convert_to_tensor(text_array("a draw"))})
    assert inside == [False]
    assert enabled() is before is True


def test_a_model_that_does_not_load_is_an_error(tmp_path):
    with pytest.raises(ModelError, match="SavedModel"):
        PythonSession(tmp_path)


@pytest.mark.slow
def test_a_fresh_process_need_not_import_tensorflow_text(text_classifier_dir):
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from kerazoo.export.verify import verify_saved_model\n"
        "report = verify_saved_model(Path(sys.argv[1]))\n"
        "assert report.ok and not report.not_run, str(report)\n"
        "assert not {'tensorflow_text', 'keras_hub'} & set(sys.modules)\n"
        "import tensorflow_text  # may still be imported afterwards\n"
    )
    command = [sys.executable, "-c", code, str(text_classifier_dir)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
