"""Tiny tasks of every kind of loss, with ready rows whose weights are divided unevenly."""

from contextlib import nullcontext

import keras
import numpy as np
from keras import ops
from tiny_gpt import tiny_gpt

import kerazoo

WIDTH = 8
TOKENS = 31


def _bert(**overrides):
    keras.utils.set_random_seed(7)
    size = {"num_layers": 1, "num_heads": 2, "hidden_dim": 12, "intermediate_dim": 14}
    return kerazoo.BertBackbone(
        vocabulary_size=TOKENS,
        max_sequence_length=WIDTH,
        dropout=0.0,
        attention_dropout=0.0,
        initializer_range=0.3,
        **(size | overrides),
    )


def _gpt():
    return tiny_gpt(num_layers=1, vocabulary_size=TOKENS, dropout=0.0, attention_dropout=0.0)


def _features(rows, random, segments=True):
    lengths = random.integers(3, WIDTH + 1, rows)
    mask = (np.arange(WIDTH) < lengths[:, None]).astype("int32")
    ids = random.integers(5, TOKENS, (rows, WIDTH)).astype("int32") * mask
    features = {"token_ids": ids, "padding_mask": mask}
    return {**features, "segment_ids": np.zeros_like(ids)} if segments else features


def _masks(rows, random):
    slots = (np.arange(3) < random.integers(1, 4, rows)[:, None]).astype("float32")
    positions = random.integers(0, 3, (rows, 3)).astype("int32")
    return positions, random.integers(5, TOKENS, (rows, 3)).astype("int32"), slots


def classes(rows, random):
    """Labels with weights of classes."""
    task = kerazoo.TextClassifier(_bert(), num_classes=3, dropout=0.0)
    y = random.integers(0, 3, rows).astype("int32")
    weights = np.array([0.2, 1.7, 3.0], "float32")[y]
    return task, _features(rows, random), y, weights


def plain_classes(rows, random):
    """Labels without weights."""
    return *classes(rows, random)[:3], None


def scores(rows, random):
    """A regression on two orders of two texts, with λ."""
    task = kerazoo.TextSimilarity(_gpt(), dropout=0.0, lm_loss_weight=0.4)
    orders = [_features(rows, random, segments=False) for _ in range(2)]
    x = {key: np.stack([each[key] for each in orders], axis=1) for key in orders[0]}
    return task, x, random.normal(size=rows).astype("float32"), None


def language_model_beside(rows, random):
    """Labels, with λ, and rows of different weight."""
    task = kerazoo.TextClassifier(_gpt(), num_classes=2, dropout=0.0, lm_loss_weight=0.7)
    x = _features(rows, random, segments=False)
    y = random.integers(0, 2, rows).astype("int32")
    return task, x, y, random.uniform(0.1, 3, rows).astype("float32")


def masked_words(rows, random):
    """Masks of which some slots are unused."""
    positions, targets, slots = _masks(rows, random)
    x = {**_features(rows, random), "mask_positions": positions}
    return kerazoo.MaskedLM(_bert()), x, targets, slots


def pretraining(rows, random):
    """Masks and next sentences, two means of different weights."""
    task, x, targets, slots = masked_words(rows, random)
    task = kerazoo.BertPretrainer(_bert())
    y = {"masked_lm": targets, "next_sentence": random.integers(0, 2, rows).astype("int32")}
    weights = {"masked_lm": slots, "next_sentence": np.ones(rows, "float32")}
    return task, x, y, weights


def next_tokens(rows, random):
    """The next token, of rows of different length."""
    x = _features(rows, random, segments=False)
    y = np.roll(x["token_ids"], -1, axis=1)
    return kerazoo.CausalLM(_gpt()), x, y, x["padding_mask"].astype("float32")


def tags(rows, random, crf=False):
    """Tags of words, which are fewer than tokens."""
    labels = ["O", "B-PER", "I-PER", "B-LOC"]
    task = kerazoo.TokenClassifier(_bert(), labels=labels, crf=crf, dropout=0.0)
    x = _features(rows, random)
    words = x["padding_mask"] * (random.random((rows, WIDTH)) < 0.7)
    words[:, 0] = 1
    weights = words * random.uniform(0.5, 2, (rows, 1))
    y = random.integers(0, 4, (rows, WIDTH)).astype("int32")
    return task, x, y, weights.astype("float32")


def crf_tags(rows, random):
    """The same with a CRF."""
    return tags(rows, random, crf=True)


def answers(rows, random):
    """First and last token of an answer, the mean of two means."""
    task = kerazoo.ExtractiveQA(_bert())
    x = _features(rows, random)
    x["answer_mask"] = x["padding_mask"]
    y = {name: random.integers(0, 3, rows).astype("int32") for name in task.output}
    weight = random.uniform(0.5, 2, rows).astype("float32")
    return task, x, y, dict.fromkeys(y, weight)


LOSSES = (
    classes,
    plain_classes,
    scores,
    language_model_beside,
    masked_words,
    pretraining,
    next_tokens,
    tags,
    crf_tags,
    answers,
)


def ready(loss, rows, seed=3):
    """Return a fresh task, and features, targets and weights of some rows."""
    return loss(rows, np.random.default_rng(seed))


def gradients_of(task):
    """The gradient of the only step that was made, from the momentum, which is minus it."""
    return [ops.convert_to_numpy(slot) for slot in task.optimizer.momentums]


def fit(
    loss,
    rows,
    batch_size=None,
    strategy=None,
    micro_batches=1,
    optimizer=None,
    epochs=1,
    rematerialize=False,
):
    """Train a fresh task, and return it and its history, a dict of lists."""
    with nullcontext() if strategy is None else strategy.scope():
        task, x, y, weights = ready(loss, rows)
        task.compile(optimizer or keras.optimizers.SGD(1.0, momentum=0.9))
    task.accumulate(micro_batches)
    task.backbone.rematerialize = rematerialize
    arguments = {"batch_size": batch_size or rows, "epochs": epochs, "verbose": 0}
    history = task.fit(x, y, sample_weight=weights, shuffle=False, **arguments).history
    return task, history


def check_same_gradients(others, expected, tolerance=1e-6):
    for other, mine in zip(others, expected, strict=True):
        error = np.linalg.norm(other - mine) / max(np.linalg.norm(mine), 1e-30)
        scale = np.linalg.norm(np.concatenate([g.ravel() for g in expected]))
        assert error <= tolerance or np.linalg.norm(other - mine) <= tolerance * scale * 0.1


def check_same_weights(others, expected, loss):
    """Within 1e-6 of what the weights moved."""
    begin = [ops.convert_to_numpy(w) for w in ready(loss, 1)[0].trainable_weights]
    moved = [
        [ops.convert_to_numpy(w) - b for w, b in zip(task.trainable_weights, begin, strict=True)]
        for task in (others, expected)
    ]
    other, mine = (np.concatenate([part.ravel() for part in each]) for each in moved)
    assert np.linalg.norm(mine) > 0
    assert np.linalg.norm(other - mine) / np.linalg.norm(mine) < 1e-6


def check_same_history(others, expected, tolerance=1e-5):
    assert others.keys() == expected.keys()
    for name, values in expected.items():
        np.testing.assert_allclose(others[name], values, rtol=tolerance, err_msg=name)
