import base64
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from kerazoo.export import tensorflow_c_api
from kerazoo.export.server_session import text_op_libraries

TENSORFLOW = str(Path(find_spec("tensorflow").origin).parent)
FLOAT32, INT32 = 1, 3


def converse(*requests):
    """Runs the program on requests; returns its answers and the modules it imported."""
    result = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", tensorflow_c_api.__file__],
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    lines = [line for line in result.stderr.splitlines() if line.startswith("import time:")]
    modules = {line.rpartition("|")[2].strip() for line in lines}
    return [json.loads(line) for line in result.stdout.splitlines()], modules


def load(saved_model, tensorflow=TENSORFLOW, libraries=(), tags=("serve",)):
    return {
        "load": {
            "tensorflow": tensorflow,
            "op_libraries": [str(library) for library in libraries],
            "saved_model": str(saved_model),
            "tags": list(tags),
        }
    }


def run(tensor, dtype, shape, data, *fetches):
    feed = {"tensor": tensor, "dtype": dtype, "shape": shape, "data": data}
    return {"run": {"feeds": [feed], "fetches": list(fetches)}}


@pytest.fixture(scope="module")
def conversation(text_classifier_dir):
    """Answers to a load and some requests, and the modules the program imported."""
    ids = base64.b64encode(np.array([[5, 6, 7, 8, 9, 0, 0]], np.int32).tobytes()).decode()
    texts = [base64.b64encode(text).decode() for text in (b"a draw", "股票".encode(), b"")]
    text, label = "serving_default_text:0", "StatefulPartitionedCall_1:0"
    return converse(
        run(text, tensorflow_c_api.STRING, [3], texts, label),
        load(text_classifier_dir, libraries=text_op_libraries()),
        run(text, tensorflow_c_api.STRING, [3], texts, label),
        run("features_token_ids:0", INT32, [1, 7], ids, "StatefulPartitionedCall:0"),
        run("features_token_ids:0", INT32, [1, 7], ids, "nowhere:0"),
        run("features_token_ids:0", INT32, [1, 1, 7], ids, "StatefulPartitionedCall:0", label),
        run(text, tensorflow_c_api.STRING, [0], [], label),
    )


def test_it_runs_with_the_standard_library_alone(conversation):
    modules = {name.partition(".")[0] for name in conversation[1]}
    assert "ctypes" in modules
    assert not modules & {"tensorflow", "keras", "kerazoo", "numpy"}


def test_nothing_runs_before_a_model_is_loaded(conversation):
    assert conversation[0][0] == {"error": {"kind": "model", "message": "No model was loaded."}}


def test_strings_go_in_and_out(conversation):
    loaded, answer = conversation[0][1:3]
    assert loaded["tensorflow_version"].startswith("2.")
    (output,) = answer["outputs"]
    assert (output["dtype"], output["shape"]) == (tensorflow_c_api.STRING, [3])
    labels = {base64.b64decode(value).decode() for value in output["data"]}
    assert labels <= {"business", "sport", "tech"}


def test_numbers_go_in_and_out(conversation):
    (output,) = conversation[0][3]["outputs"]
    assert (output["dtype"], output["shape"]) == (FLOAT32, [1, 40])
    assert np.isfinite(np.frombuffer(base64.b64decode(output["data"]), np.float32)).all()


def test_what_fails_is_said_and_the_program_goes_on(conversation):
    unknown, both, empty = conversation[0][4:]
    assert unknown["error"]["message"] == "Tensor 'nowhere:0' not found in the graph."
    assert both["error"]["kind"] == "model"
    assert empty["outputs"] == [{"dtype": tensorflow_c_api.STRING, "shape": [0], "data": []}]


def test_what_cannot_be_loaded_is_said(tmp_path, text_classifier_dir):
    no_library = tmp_path / "no_library.so"
    no_library.write_text("not a library")
    answers, _ = converse(
        load(text_classifier_dir, tensorflow=str(tmp_path)),
        load(text_classifier_dir, libraries=[no_library]),
        load(tmp_path / "nowhere"),
        load(text_classifier_dir, tags=["train"]),
    )
    assert [answer["error"]["kind"] for answer in answers] == ["library"] * 2 + ["model"] * 2
    assert "libtensorflow_framework" in answers[0]["error"]["message"]
    assert "Could not find SavedModel" in answers[2]["error"]["message"]
    assert "Could not find meta graph def" in answers[3]["error"]["message"]
