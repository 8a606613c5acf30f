import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from kerazoo.export.prediction_log import (
    PredictionLog,
    decode_prediction_log,
    encode_prediction_log,
)

TEXTS = np.array([b"a draw", "股票涨 😀".encode(), b""], dtype=object)
LONG = np.array([b"x" * 300, b"y" * 70_000], dtype=object)  # lengths of two and three bytes
INPUTS = {
    "text": TEXTS,
    "token_ids": np.arange(21, dtype=np.int32).reshape(3, 7),
    "flag": np.array([True, False, True]),
    "scale": np.array([0.5, -2.0, np.inf], np.float64),
}


def official_log(inputs, signature_name="serving_default"):
    log = prediction_log_pb2.PredictionLog()
    request = log.predict_log.request
    request.model_spec.name, request.model_spec.signature_name = "news", signature_name
    for name, array in inputs.items():
        request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
    return log


@pytest.mark.parametrize("inputs", [INPUTS, {"text": LONG}, {}], ids=["types", "long", "none"])
def test_bytes_equal_those_of_tensorflow_serving_api(inputs):
    ours = encode_prediction_log(PredictionLog("news", "serving_default", inputs))
    assert ours == official_log(inputs).SerializeToString(deterministic=True)


def test_what_is_written_is_read_back():
    log = decode_prediction_log(encode_prediction_log(PredictionLog("news", "features", INPUTS)))
    assert (log.model_name, log.signature_name) == ("news", "features")
    assert set(log.inputs) == set(INPUTS)
    for name, array in INPUTS.items():
        assert log.inputs[name].dtype == array.dtype
        np.testing.assert_array_equal(log.inputs[name], array)


def test_fields_of_other_writers_are_skipped():
    official = official_log({"text": TEXTS}, signature_name="")
    official.log_metadata.sampling_config.sampling_rate = 0.25
    official.predict_log.request.model_spec.version.value = 300
    official.predict_log.request.output_filter.append("label")
    official.predict_log.response.model_spec.name = "news"
    log = decode_prediction_log(official.SerializeToString())
    assert log.signature_name == "serving_default"
    np.testing.assert_array_equal(log.inputs["text"], TEXTS)


def test_another_kind_of_log_is_said():
    official = prediction_log_pb2.PredictionLog()
    official.classify_log.request.model_spec.name = "news"
    with pytest.raises(ValueError, match="no predict_log.*Received: kind=classify_log"):
        decode_prediction_log(official.SerializeToString())


def test_bytes_cut_anywhere_never_pass_for_the_whole():
    data = encode_prediction_log(PredictionLog("news", "features", {"text": TEXTS}))
    for length in range(len(data)):
        with pytest.raises(ValueError, match="warm-up record"):
            decode_prediction_log(data[:length])


@pytest.mark.parametrize("data", [b"\x33", b"\xff" * 12, b"\x08"], ids=["group", "endless", "cut"])
def test_damaged_bytes_are_said(data):
    with pytest.raises(ValueError, match="A warm-up record is"):
        decode_prediction_log(data)


def test_a_damaged_tensor_is_said():
    inside = b"\x0a\x01x\x12\x02\x0a\xff"  # input "x" with a tensor of two meaningless bytes
    request = b"\x12" + bytes([len(inside)]) + inside
    log = b"\x0a" + bytes([len(request)]) + request
    with pytest.raises(ValueError, match="damaged tensor"):
        decode_prediction_log(b"\x32" + bytes([len(log)]) + log)
