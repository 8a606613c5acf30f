import keras
import numpy as np
import pytest

from kerazoo.metrics.perplexity import Perplexity


@pytest.fixture
def batches():
    random = np.random.default_rng(2)
    made = []
    for rows in (3, 2):
        weights = (random.random((rows, 7)) > 0.4).astype("float32")
        made.append(
            (
                random.integers(11, size=(rows, 7)),
                random.normal(size=(rows, 7, 11)).astype("float32") * 2,
                weights,
            )
        )
    return made


def test_it_is_the_exponential_of_the_mean_over_real_tokens(batches):
    metric = Perplexity()
    losses, weights = [], []
    for targets, logits, weight in batches:
        metric.update_state(targets, logits, sample_weight=weight)
        log_sum = np.log(np.exp(logits.astype("float64")).sum(-1))
        chosen = np.take_along_axis(logits, targets[..., None], -1)[..., 0]
        losses.append((log_sum - chosen)[weight > 0])
        weights.append(weight)
    assert float(metric.result()) == pytest.approx(np.exp(np.concatenate(losses).mean()), rel=1e-5)
    metric.reset_state()
    targets, logits, _ = batches[0]
    metric.update_state(targets, logits * 0)
    assert float(metric.result()) == pytest.approx(11, rel=1e-5)


def test_it_is_restored_from_its_config():
    metric = keras.metrics.deserialize(keras.metrics.serialize(Perplexity()))
    assert isinstance(metric, Perplexity)
    assert metric.name == "perplexity"
