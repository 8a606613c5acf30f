import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tasks.class_answers import class_answers, served_class_answers, softmax

LABELS = ["bad", "good", "mixed"]


def test_softmax_of_large_logits():
    probabilities = softmax(np.array([[1000.0, 1000.0, -1e38], [0.0, np.log(2), np.log(5)]]))
    np.testing.assert_allclose(probabilities, [[0.5, 0.5, 0], [0.125, 0.25, 0.625]], atol=1e-6)


def test_answers_name_the_most_probable_label():
    probabilities = np.array([[0.2, 0.5, 0.3], [0.6, 0.3, 0.1]], "float32")
    answers = class_answers(probabilities, LABELS)
    assert [answer["label"] for answer in answers] == ["good", "bad"]
    assert answers[0]["score"] == pytest.approx(0.5)
    assert answers[1]["probabilities"] == pytest.approx({"bad": 0.6, "good": 0.3, "mixed": 0.1})
    served = served_class_answers(tf.constant(probabilities), LABELS)
    assert served["label"].numpy().tolist() == [b"good", b"bad"]
    assert served["labels"].numpy().tolist() == [[b"bad", b"good", b"mixed"]] * 2
    np.testing.assert_array_equal(served["score"], probabilities.max(1))
    np.testing.assert_array_equal(served["probabilities"], probabilities)
