import numpy as np
import pytest
import tensorflow as tf
from tensorflow_serving.apis import prediction_log_pb2

from kerazoo.export.signatures import read_signatures
from kerazoo.export.verification_report import Status
from kerazoo.export.warmup import (
    WARMUP_FILE,
    check_warmup,
    find_request_fault,
    read_warmup,
    write_warmup,
)

TOKEN_IDS = np.arange(7, dtype=np.int32)[None]


def test_requests_are_read_back_in_their_order(text_classifier_dir):
    logs = read_warmup(text_classifier_dir)
    assert [log.signature_name for log in logs] == ["serving_default"] * 2 + ["features"]
    assert logs[0].inputs["text"].tolist() == [b"the match was a draw!", "股票涨 😀".encode()]
    assert logs[2].inputs["token_ids"].shape == (2, 7)


def test_the_records_are_those_that_a_server_reads(text_classifier_dir):
    records = tf.data.TFRecordDataset(str(text_classifier_dir / WARMUP_FILE)).as_numpy_iterator()
    logs = [prediction_log_pb2.PredictionLog.FromString(record) for record in records]
    spec = logs[2].predict_log.request.model_spec
    assert (spec.name, spec.signature_name) == ("news", "features")
    values = tf.make_ndarray(logs[0].predict_log.request.inputs["text"])
    assert values.tolist() == [b"the match was a draw!", "股票涨 😀".encode()]


def test_a_second_file_takes_the_place_of_the_first(copy_of_text_classifier, text_array):
    write_warmup(copy_of_text_classifier, [("serving_default", {"text": text_array("a")})], "m")
    assert len(read_warmup(copy_of_text_classifier)) == 1
    assert [file.name for file in (copy_of_text_classifier / WARMUP_FILE.parent).iterdir()] == [
        WARMUP_FILE.name
    ]


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (("nothing", {}), "The model has no signature 'nothing', only features, serving_default."),
        (("features", {"text": TOKEN_IDS}), r"takes the inputs \['token_ids'\], .* has \['text'\]"),
        (("features", {"token_ids": TOKEN_IDS.astype("int64")}), "type int32, and .* is int64."),
        (("features", {"token_ids": TOKEN_IDS, "more": TOKEN_IDS}), r"has \['more', 'token_ids'\]"),
    ],
)
def test_requests_that_do_not_fit_are_not_written(copy_of_text_classifier, request_, words):
    before = (copy_of_text_classifier / WARMUP_FILE).read_bytes()
    with pytest.raises(ValueError, match=f"{words}.*Received: request 1"):
        write_warmup(
            copy_of_text_classifier, [("features", {"token_ids": TOKEN_IDS}), request_], "m"
        )
    assert (copy_of_text_classifier / WARMUP_FILE).read_bytes() == before


@pytest.mark.parametrize("count", [0, 1001])
def test_a_file_holds_one_to_a_thousand_requests(text_classifier_dir, count):
    with pytest.raises(ValueError, match=rf"1 to 1,000 requests.*len\(requests\)={count}"):
        write_warmup(text_classifier_dir, [("features", {"token_ids": TOKEN_IDS})] * count, "m")


def test_a_folder_without_a_model_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="not a SavedModel"):
        write_warmup(tmp_path, [("features", {"token_ids": TOKEN_IDS})], "m")


def test_a_missing_file_is_a_fault(copy_of_text_classifier):
    (copy_of_text_classifier / WARMUP_FILE).unlink()
    with pytest.raises(FileNotFoundError, match="no warm-up file"):
        read_warmup(copy_of_text_classifier)
    (check,), logs = check_warmup(copy_of_text_classifier, read_signatures(copy_of_text_classifier))
    assert check.status is Status.FAILED and logs == []
    assert "a broken model would be called available" in check.message


@pytest.mark.parametrize("where", ["length", "content", "end"])
def test_a_damaged_file_is_a_fault(copy_of_text_classifier, where):
    file = copy_of_text_classifier / WARMUP_FILE
    data = bytearray(file.read_bytes())
    if where == "end":
        del data[-5:]
    else:
        data[{"length": 3, "content": 40}[where]] ^= 0xFF
    file.write_bytes(data)
    with pytest.raises(ValueError, match="damaged; write it again"):
        read_warmup(copy_of_text_classifier)
    (check,), _ = check_warmup(copy_of_text_classifier, read_signatures(copy_of_text_classifier))
    assert check.status is Status.FAILED
    assert "A server would not load it" in check.message


def write_records(version_dir, records):
    with tf.io.TFRecordWriter(str(version_dir / WARMUP_FILE)) as writer:
        for record in records:
            writer.write(record)


def test_a_record_that_is_no_request_is_a_fault(copy_of_text_classifier):
    write_records(copy_of_text_classifier, [b"no protocol buffer"])
    with pytest.raises(ValueError, match=r"record 0\)"):
        read_warmup(copy_of_text_classifier)


def test_too_many_requests_are_a_fault(copy_of_text_classifier):
    file = str(copy_of_text_classifier / WARMUP_FILE)
    record = next(tf.data.TFRecordDataset(file).as_numpy_iterator())
    write_records(copy_of_text_classifier, [record] * 1001)
    (check,), logs = check_warmup(copy_of_text_classifier, read_signatures(copy_of_text_classifier))
    assert check.status is Status.FAILED
    assert "It holds 1,001 requests and a server takes 1,000" in check.message
    assert len(logs) == 1000


def test_a_request_for_another_model_is_a_fault(text_classifier_dir, make_signature):
    signatures = {"features": make_signature({"token_ids": ("int64", (None, 7))}, {}, "features")}
    (check,), logs = check_warmup(text_classifier_dir, signatures)
    assert check.status is Status.FAILED and logs == []
    assert "Request 0 would stop the load. The model has no signature" in check.message


def test_every_signature_must_be_called(copy_of_text_classifier, text_array):
    write_warmup(copy_of_text_classifier, [("serving_default", {"text": text_array("a")})], "m")
    signatures = read_signatures(copy_of_text_classifier)
    (file, coverage), logs = check_warmup(copy_of_text_classifier, signatures)
    assert file.ok and len(logs) == 1
    assert coverage.status is Status.FAILED
    assert "No request calls features" in coverage.message


def test_a_request_that_fits_has_no_fault(text_classifier_dir):
    signatures = read_signatures(text_classifier_dir)
    assert [find_request_fault(log, signatures) for log in read_warmup(text_classifier_dir)] == [
        None
    ] * 3
