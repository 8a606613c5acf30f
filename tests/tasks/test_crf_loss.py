import numpy as np
import pytest
from keras import ops

from kerazoo.layers.crf import CRF
from kerazoo.tasks.crf_loss import crf_loss, decoded_rows


@pytest.fixture(scope="module")
def crf():
    layer = CRF(4)
    layer.build((None, None, 4))
    generator = np.random.default_rng(3)
    for weight in layer.weights:
        weight.assign(generator.normal(size=weight.shape).astype("float32"))
    return layer


def batch():
    generator = np.random.default_rng(5)
    emissions = generator.normal(size=(5, 9, 4)).astype("float32")
    tags = generator.integers(0, 4, (5, 9)).astype("int32")
    weights = (generator.random((5, 9)) < 0.6) * np.array([1, 0.5, 2, 0, 1])[:, None]
    return emissions, tags, weights.astype("float32")


def test_the_loss_is_that_of_the_weighted_positions_alone_a_word(crf):
    emissions, tags, weights = batch()
    total = count = 0.0
    for row in range(5):
        kept = weights[row] > 0
        if kept.any():
            arguments = emissions[row][kept][None], tags[row][kept][None], kept[kept][None]
            loss = float(ops.convert_to_numpy(crf.negative_log_likelihood(*arguments))[0])
            total += weights[row].max() * loss
            count += weights[row].max() * kept.sum()
    found = float(ops.convert_to_numpy(crf_loss(crf, emissions, tags, weights)))
    assert found == pytest.approx(total / count, rel=1e-5)
    assert ops.convert_to_numpy(crf_loss(crf, emissions, tags, 0 * weights)) == 0


def test_padding_changes_nothing(crf):
    emissions, tags, weights = batch()
    expected = ops.convert_to_numpy(crf_loss(crf, emissions, tags, weights))
    wide = np.pad(emissions, ((0, 0), (0, 7), (0, 0)), constant_values=50.0)
    wide_tags = np.pad(tags, ((0, 0), (0, 7)), constant_values=3)
    found = crf_loss(crf, wide, wide_tags, np.pad(weights, ((0, 0), (0, 7))))
    assert float(ops.convert_to_numpy(found)) == pytest.approx(float(expected), rel=1e-6)


def test_best_tags_stand_at_the_front(crf):
    emissions, tags, weights = batch()
    true, found, moved = map(ops.convert_to_numpy, decoded_rows(crf, emissions, tags, weights))
    for row in range(5):
        kept = weights[row] > 0
        count = kept.sum()
        np.testing.assert_array_equal(moved[row] > 0, np.arange(9) < count)
        np.testing.assert_array_equal(true[row][:count], tags[row][kept])
        if count:
            best = crf.decode(emissions[row][kept][None], kept[kept][None])[0]
            np.testing.assert_array_equal(found[row][:count], ops.convert_to_numpy(best)[0])
