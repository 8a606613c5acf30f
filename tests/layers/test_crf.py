"""The CRF against an enumeration of all tag sequences."""

import itertools

import keras
import numpy as np
import pytest
from keras import ops

from kerazoo.layers.crf import CRF

TAGS, WIDTH = 4, 6
LENGTHS = [5, 1, 0, 3]


def make(seed=3, tags=TAGS, **arguments):
    layer = CRF(tags, **arguments)
    layer.build((None, None, tags))
    generator = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(generator.normal(size=weight.shape).astype("float32"))
    return layer


@pytest.fixture(scope="module")
def batch():
    generator = np.random.default_rng(11)
    emissions = generator.normal(size=(len(LENGTHS), WIDTH, TAGS)).astype("float32") * 2
    mask = (np.arange(WIDTH) < np.array(LENGTHS)[:, None]).astype("int32")
    tags = generator.integers(0, TAGS, (len(LENGTHS), WIDTH))
    return emissions, tags, mask


def moves(layer):
    """The scores of moves in float64, forbidden ones minus infinity."""
    start, transition, end = (ops.convert_to_numpy(w).astype("float64") for w in layer.weights)
    start[layer.forbidden_starts] = -np.inf
    end[layer.forbidden_ends] = -np.inf
    for pair in layer.forbidden_transitions:
        transition[tuple(pair)] = -np.inf
    return start, transition, end


def all_paths(layer, emissions):
    """Each tag sequence of a row without padding and its score."""
    start, transition, end = moves(layer)
    for path in itertools.product(range(layer.num_tags), repeat=len(emissions)):
        score = start[path[0]] + end[path[-1]]
        score += sum(emissions[t, tag] for t, tag in enumerate(path))
        yield path, score + sum(transition[pair] for pair in itertools.pairwise(path))


BANS = {"forbidden_starts": [2], "forbidden_transitions": [(0, 1), (3, 3)], "forbidden_ends": [0]}


@pytest.mark.parametrize("arguments", [{}, BANS], ids=["all moves", "bans"])
def test_likelihood_decoding_and_marginals_equal_an_enumeration(batch, arguments):
    layer = make(**arguments)
    emissions, tags, mask = batch
    if arguments:
        tags = np.where(tags == 0, 1, tags)
        tags[tags == 3] = 1
        tags[:, 0] = 1
    losses = ops.convert_to_numpy(layer.negative_log_likelihood(emissions, tags, mask))
    best, scores = (ops.convert_to_numpy(x) for x in layer.decode(emissions, mask))
    marginals = ops.convert_to_numpy(layer.marginals(emissions, mask))
    assert best.shape == (len(LENGTHS), WIDTH)
    assert marginals.shape == (len(LENGTHS), WIDTH, TAGS)
    for row, length in enumerate(LENGTHS):
        assert (best[row, length:] == 0).all()
        assert (marginals[row, length:] == 0).all()
        if length == 0:
            assert losses[row] == scores[row] == 0
            continue
        paths = dict(all_paths(layer, emissions[row, :length].astype("float64")))
        log_sum = np.logaddexp.reduce(list(paths.values()))
        gold = paths[tuple(tags[row, :length].tolist())]
        assert losses[row] == pytest.approx(log_sum - gold, abs=1e-4)
        winner = max(paths, key=paths.__getitem__)
        assert tuple(best[row, :length].tolist()) == winner
        assert scores[row] == pytest.approx(paths[winner], abs=1e-4)
        expected = np.zeros((length, TAGS))
        for path, score in paths.items():
            expected[range(length), path] += np.exp(score - log_sum)
        np.testing.assert_allclose(marginals[row, :length], expected, atol=1e-5)


def test_padding_changes_nothing(batch):
    layer = make()
    emissions, tags, mask = batch
    wide = np.pad(emissions, ((0, 0), (0, 5), (0, 0)), constant_values=7.0)
    wide_tags = np.pad(tags, ((0, 0), (0, 5)), constant_values=2)
    wide_mask = np.pad(mask, ((0, 0), (0, 5)))
    np.testing.assert_array_equal(
        ops.convert_to_numpy(layer.negative_log_likelihood(wide, wide_tags, wide_mask)),
        ops.convert_to_numpy(layer.negative_log_likelihood(emissions, tags, mask)),
    )
    for method in ("decode", "marginals"):
        found = getattr(layer, method)(wide, wide_mask)
        expected = getattr(layer, method)(emissions, mask)
        for a, b in zip(keras.tree.flatten(found), keras.tree.flatten(expected), strict=True):
            a, b = ops.convert_to_numpy(a), ops.convert_to_numpy(b)
            np.testing.assert_array_equal(a[:, :WIDTH] if a.ndim > 1 else a, b)


@pytest.mark.tensorflow
def test_rows_of_unknown_length_in_a_graph(batch):
    import tensorflow as tf

    layer = make()
    emissions, tags, mask = batch

    def outputs(emissions, tags, mask):
        return (
            layer.negative_log_likelihood(emissions, tags, mask),
            *layer.decode(emissions, mask),
            layer.marginals(emissions, mask),
        )

    open_shape = [tf.TensorSpec((None, None, TAGS)), *[tf.TensorSpec((None, None), tf.int32)] * 2]
    found = tf.function(outputs, input_signature=open_shape)(emissions, tags.astype("int32"), mask)
    for value, expected in zip(found, outputs(emissions, tags, mask), strict=True):
        np.testing.assert_allclose(value, expected, atol=1e-5)


def test_confident_rows_are_never_negative():
    layer = make(tags=7)
    generator = np.random.default_rng(5)
    tags = generator.integers(0, 7, (300, 128))
    emissions = generator.normal(size=(300, 128, 7)) + 60 * np.eye(7)[tags]
    losses = layer.negative_log_likelihood(
        emissions.astype("float32"), tags, np.ones((300, 128), "int32")
    )
    losses = ops.convert_to_numpy(losses)
    assert losses.min() >= 0
    assert losses.max() < 1e-4


def test_marginals_of_long_rows_equal_forward_backward_in_float64():
    layer = make(tags=5)
    length = 200
    emissions = np.random.default_rng(9).normal(size=(2, length, 5)).astype("float32") * 6
    found = ops.convert_to_numpy(layer.marginals(emissions, np.ones((2, length), "int32")))
    start, transition, end = moves(layer)
    for row, scores in zip(found, emissions.astype("float64"), strict=True):
        forward, backward = np.zeros((length, 5)), np.zeros((length, 5))
        forward[0], backward[-1] = start + scores[0], end
        for t in range(1, length):
            forward[t] = scores[t] + np.logaddexp.reduce(forward[t - 1][:, None] + transition)
            after = scores[-t] + backward[-t]
            backward[-t - 1] = np.logaddexp.reduce(transition + after, axis=1)
        both = forward + backward
        total = np.logaddexp.reduce(both, axis=1)
        np.testing.assert_allclose(total, total[0])
        np.testing.assert_allclose(row, np.exp(both - total[:, None]), atol=2e-5)
    np.testing.assert_allclose(found.sum(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
def test_half_precision_is_computed_in_float32(batch, half):
    emissions, tags, mask = batch
    emissions = ops.cast(emissions, half)
    layer = make(dtype=f"mixed_{half}")
    output = layer(emissions)
    assert keras.backend.standardize_dtype(output.dtype) == "float32"
    assert {weight.dtype for weight in layer.weights} == {"float32"}
    # The same numbers in float32 under no policy.
    exact, plain = ops.cast(emissions, "float32"), make()
    for method, arguments in (
        ("negative_log_likelihood", (tags, mask)),
        ("decode", (mask,)),
        ("marginals", (mask,)),
    ):
        found = keras.tree.flatten(getattr(layer, method)(emissions, *arguments))
        expected = keras.tree.flatten(getattr(plain, method)(exact, *arguments))
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(ops.convert_to_numpy(a), ops.convert_to_numpy(b))


def test_a_forbidden_move_in_the_given_tags_is_named():
    layer = CRF(TAGS, **BANS)
    mask = np.array([[1, 1, 1], [1, 1, 0]])
    layer.check_tags([[1, 2, 3], [3, 1, 0]], mask)
    for row, words in (
        ([2, 1, 1], r"Row 1 begins with.*Received: 2 in tags=\[2, 1\]"),
        ([0, 1, 1], r"Row 1 goes on from tag to tag.*Received: \(0, 1\)"),
        ([1, 0, 1], "Row 1 ends with.*Received: 0"),
    ):
        with pytest.raises(ValueError, match=words):
            layer.check_tags([[1, 2, 3], row], mask)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="forbidden_ends.*none of 0 to 3"):
        CRF(4, forbidden_ends=[4])
    with pytest.raises(ValueError, match="num_tags"):
        CRF(0)


def test_config_round_trip():
    layer = CRF(TAGS, **BANS, name="tags")
    copy = CRF.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
    assert copy.forbidden_transitions == layer.forbidden_transitions


class Tagger(keras.Model):
    """Learns nothing but the moves."""

    def __init__(self):
        super().__init__()
        self.crf = CRF(TAGS)

    def call(self, inputs):
        return self.crf(inputs)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        mask = ops.ones_like(y)
        return ops.mean(self.crf.negative_log_likelihood(y_pred, y, mask))


@pytest.mark.slow
@pytest.mark.compiled
def test_moves_are_learnt_by_fit():
    """From emissions that say nothing, the share of each move in the data is learnt."""
    tags = np.array([[0, 1, 2, 3, 0]] * 3 + [[0, 2, 2, 1, 3]], "int32")
    model = Tagger()
    model.compile(keras.optimizers.Adam(0.2))
    emissions = np.zeros((*tags.shape, TAGS), "float32")
    losses = model.fit(emissions, tags, epochs=40, batch_size=4, verbose=0).history["loss"]
    assert losses[0] == pytest.approx(5 * np.log(TAGS), rel=1e-4)
    best = ops.convert_to_numpy(model.crf.decode(emissions, np.ones_like(tags))[0])
    np.testing.assert_array_equal(best[0], [0, 1, 2, 3, 0])
    assert losses[-1] < 1.5
