import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tasks.serving_signature import ServingSignature


def test_is_a_value():
    spec = tf.TensorSpec((None,), tf.string, name="text")
    signature = ServingSignature(lambda text: {"text": text}, (spec,), {"text": np.array([b"a"])})
    assert signature.function(tf.constant(["b"]))["text"].numpy().tolist() == [b"b"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        signature.inputs = ()
