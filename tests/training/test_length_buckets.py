import keras
import numpy as np
import pytest

from kerazoo import TextClassifier, TextClassifierPreprocessor
from kerazoo.data.row_order import RowOrder
from kerazoo.preprocessing.multiple_choice import MultipleChoicePreprocessor
from kerazoo.tasks.packed_windows import PackedWindows
from kerazoo.training.length_buckets import length_buckets


def test_texts_and_pairs(tiny_tokenizer):
    preprocessor = TextClassifierPreprocessor(tiny_tokenizer, sequence_length=12)
    texts = {"text": ["", "a film", "good " * 3, "not " * 30]}  # 2, 4, 5 and 32 tokens
    assert length_buckets(texts, preprocessor, 4).tolist() == [1, 1, 2, 3]
    pairs = {**texts, "text_pair": ["a", "", "bad bad", "a"]}  # 4, 5, 8 and 34 tokens
    assert length_buckets(pairs, preprocessor, 4).tolist() == [1, 2, 2, 3]
    assert length_buckets({"text": []}, preprocessor, 4).shape == (0,)


def test_choices_count_by_the_longest(tiny_tokenizer):
    preprocessor = MultipleChoicePreprocessor(tiny_tokenizer, sequence_length=40)
    rows = {"context": ["a film", ""], "choices": [["good", "very very bad"], ["a", "good bad"]]}
    lengths = preprocessor.text_lengths(rows)
    packed = preprocessor(rows)["padding_mask"]
    expected = keras.ops.convert_to_numpy(packed).sum(axis=-1).max(axis=-1)
    np.testing.assert_array_equal(lengths, expected)


def test_windows_and_features(tiny_tokenizer):
    mask = np.array([[1] * 7, [1] * 3 + [0] * 4, [0] * 7], "int32")
    assert length_buckets({"padding_mask": mask}, None, 3).tolist() == [3, 1, 1]
    windows = PackedWindows({"padding_mask": mask}, None, None, np.arange(3))
    assert length_buckets(windows, None, 5).tolist() == [2, 1, 1]


def test_each_bucket_has_one_shape(tiny_tokenizer):
    preprocessor = TextClassifierPreprocessor(
        tiny_tokenizer, sequence_length=11, pad_to_multiple_of=4
    )
    draw = np.random.default_rng(2)
    texts = [" ".join(["good"] * draw.integers(1, 13)) for _ in range(60)]
    buckets = length_buckets(texts, preprocessor, 4)
    widths: dict[int, set[int]] = {}
    for number in range(2 * 12):
        rows = RowOrder(3, buckets=buckets).rows_of_batch(number, 60, 5)
        batch = preprocessor([texts[row] for row in rows])
        widths.setdefault(int(buckets[rows].max()), set()).add(int(batch["token_ids"].shape[1]))
    assert widths == {1: {4}, 2: {8}, 3: {11}}


@pytest.mark.compiled
@pytest.mark.slow
@pytest.mark.skipif(keras.config.backend() == "torch", reason="PyTorch compiles nothing")
def test_each_bucket_is_compiled_once(make_tiny_backbone, tiny_tokenizer):
    preprocessor = TextClassifierPreprocessor(
        tiny_tokenizer, sequence_length=11, pad_to_multiple_of=4
    )
    backbone = make_tiny_backbone(num_layers=1)
    task = TextClassifier(backbone, labels=["no", "yes"], preprocessor=preprocessor)
    task.compile("sgd")
    traced, after_epoch = [], []
    embed = backbone.embeddings.call

    def noted(token_ids, *arguments, **options):
        traced.append(tuple(token_ids.shape))
        return embed(token_ids, *arguments, **options)

    backbone.embeddings.call = noted
    texts = [" ".join(["good"] * number) for number in [1] * 10 + [5] * 5 + [9] * 15]
    order = RowOrder(3, buckets=length_buckets(texts, preprocessor, 4))
    counting = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: after_epoch.append(len(traced))
    )
    task.fit(
        texts,
        ["no", "yes"] * 15,
        batch_size=5,
        shuffle=order,
        epochs=3,
        callbacks=[counting],
        verbose=0,
    )
    # On JAX each width has a graph of its own; on TensorFlow one is for all.
    assert set(traced) <= {(5, 4), (5, 8), (5, 11), (None, None)}
    assert len(set(traced)) == (1 if keras.config.backend() == "tensorflow" else 3)
    assert after_epoch[0] == after_epoch[2]
