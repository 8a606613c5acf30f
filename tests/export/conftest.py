"""Tiny SavedModels, good and faulty, for the tests of the export."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from kerazoo.export.signatures import Signature, SignatureTensor
from kerazoo.export.warmup import write_warmup

# 29 words and pieces, so that the table of embeddings has 29 rows.
VOCABULARY = (
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "match", "was", "a", "draw", "shares"]
    + ["rose", "fell", "on", "news", "##s", "##ing", "play", "trad", "##er", "票", "股", "足", "球"]
    + ["涨", "跌", "of", "in", "!"]
)
LABELS = ["business", "sport", "tech"]
SEQUENCE_LENGTH, HIDDEN = 7, 40


def make_text_array(*texts):
    array = np.empty(len(texts), dtype=object)
    array[:] = [text.encode() for text in texts]
    return array


@pytest.fixture(scope="session")
def text_array():
    """A function that returns texts as the array of bytes that a signature takes."""
    return make_text_array


class TinyTextClassifier(tf.Module):
    """Text in, answer out, with the tokenizer in the graph: the shape of every real export."""

    def __init__(self):
        super().__init__()
        import tensorflow_text

        self.tokenizer = tensorflow_text.FastBertTokenizer(
            VOCABULARY, no_pretokenization=False, token_out_type=tf.int32
        )
        random = tf.random.Generator.from_seed(1)
        self.embeddings = tf.Variable(random.normal([len(VOCABULARY), HIDDEN]))
        self.kernel = tf.Variable(random.normal([HIDDEN, len(LABELS)]))

    @tf.function(
        input_signature=[tf.TensorSpec([None, SEQUENCE_LENGTH], tf.int32, name="token_ids")]
    )
    def features(self, token_ids):
        hidden = tf.gather(self.embeddings, token_ids)
        return {"sequence_output": hidden, "pooled_output": tf.reduce_mean(hidden, 1)}

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="text")])
    def classify(self, text):
        tokens = self.tokenizer.tokenize(text)
        token_ids = tokens.to_tensor(0, shape=[None, SEQUENCE_LENGTH])
        probabilities = tf.nn.softmax(self.features(token_ids)["pooled_output"] @ self.kernel)
        return {
            "label": tf.gather(tf.constant(LABELS), tf.argmax(probabilities, -1)),
            "probabilities": probabilities,
        }


@pytest.fixture(scope="session")
def text_classifier_dir(tmp_path_factory):
    """The version folder of a text classifier that a stock server would serve."""
    version_dir = tmp_path_factory.mktemp("saved_models") / "news" / "1"
    model = TinyTextClassifier()
    signatures = {"serving_default": model.classify, "features": model.features}
    tf.saved_model.save(model, str(version_dir), signatures=signatures)
    token_ids = np.arange(2 * SEQUENCE_LENGTH, dtype=np.int32).reshape(2, SEQUENCE_LENGTH)
    write_warmup(
        version_dir,
        [
            ("serving_default", {"text": make_text_array("the match was a draw!", "股票涨 😀")}),
            ("serving_default", {"text": make_text_array("")}),
            ("features", {"token_ids": token_ids}),
        ],
        "news",
    )
    return version_dir


@pytest.fixture
def save_model(tmp_path):
    """A function that saves one TensorFlow function as a version folder, with a warm-up request."""

    def save(function, *specs, request=None, variables=(), name="1"):
        module = tf.Module()
        module.kept = list(variables)
        module.serve = tf.function(function, input_signature=list(specs))
        version_dir = tmp_path / "model" / name
        tf.saved_model.save(module, str(version_dir), signatures=module.serve)
        if request is not None:
            write_warmup(version_dir, [("serving_default", request)], "model")
        return version_dir

    return save


@pytest.fixture
def copy_of_text_classifier(text_classifier_dir, tmp_path):
    """A copy of the good text classifier's version folder, to be changed."""
    return Path(shutil.copytree(text_classifier_dir, tmp_path / "news" / "1"))


@pytest.fixture
def edit_saved_model():
    """A function that changes the MetaGraphDef in a version folder's saved_model.pb."""

    def edit(version_dir, change):
        file = Path(version_dir) / "saved_model.pb"
        saved_model = saved_model_pb2.SavedModel()
        saved_model.ParseFromString(file.read_bytes())
        change(saved_model.meta_graphs[0])
        file.write_bytes(saved_model.SerializeToString())

    return edit


class FunctionModel:
    """A loaded model that is a Python function of arrays: what a signature would do, at once."""

    def __init__(self, function):
        self.function = function
        self.is_alive = True

    def run(self, signature, inputs):
        return self.function(**inputs)


@pytest.fixture(scope="session")
def function_model():
    """The class that makes a loaded model of a Python function of arrays."""
    return FunctionModel


@pytest.fixture(scope="session")
def make_signature():
    """A function that makes a signature from dicts of names to (dtype, shape)."""

    def make(inputs, outputs, name="serving_default"):
        def tensors(table):
            return {
                key: SignatureTensor(key, f"{key}:0", dtype, shape)
                for key, (dtype, shape) in table.items()
            }

        return Signature(name, tensors(inputs), tensors(outputs))

    return make


_KERAS_MODELS = """
import sys
import keras
import tensorflow as tf

class Holder(tf.Module):
    pass

model = keras.Sequential([keras.Input([31]), keras.layers.Dense(37), keras.layers.Dense(3)])
holder = Holder()
holder.model = model  # the fault: a Keras model as an attribute of a tf.Module
holder.serve = tf.function(
    lambda x: {"y": model(x)}, input_signature=[tf.TensorSpec([None, 31], name="x")]
)
tf.saved_model.save(holder, sys.argv[1] + "/in_module/1", signatures=holder.serve)
model.export(sys.argv[1] + "/exported/1", verbose=False)
"""


@pytest.fixture(scope="session")
def keras_models_dir(tmp_path_factory):
    """A folder of two SavedModels made by Keras: ``in_module/1`` and ``exported/1``."""
    folder = tmp_path_factory.mktemp("keras_models")
    environment = {**os.environ, "KERAS_BACKEND": "tensorflow"}
    command = [sys.executable, "-c", _KERAS_MODELS, str(folder)]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    return folder
