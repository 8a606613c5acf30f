import numpy as np

from kerazoo.analysis.scalar_mix import fit_scalar_mix, mix_loss


def planted(count, seed, layer=2):
    """States of 4 layers, one of which knows the class."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(3, size=count)
    states = generator.normal(size=(4, count, 6)).astype("float32")
    states[layer, np.arange(count), classes] += 4
    return states, classes


def test_the_gradient_is_that_of_the_loss():
    states, classes = planted(11, 0)
    states = states.astype("float64")
    point = np.random.default_rng(1).normal(size=4 + 6 * 3 + 3)
    _, gradient = mix_loss(point, states, classes, 3, 0.7)
    for index in range(len(point)):
        step = np.zeros_like(point)
        step[index] = 1e-6
        sides = [mix_loss(point + s, states, classes, 3, 0.7)[0] for s in (step, -step)]
        np.testing.assert_allclose(gradient[index], (sides[0] - sides[1]) / 2e-6, atol=1e-7)


def test_the_layer_that_knows_gets_the_weight():
    states, classes = planted(300, 0)
    mix = fit_scalar_mix(states, classes, 3)
    np.testing.assert_allclose(mix.weights.sum(), 1)
    assert mix.weights.argmax() == 2 and mix.weights[2] > 0.6
    assert mix.accuracy(*planted(101, 5)) > 0.9
    assert mix.accuracy(*planted(101, 5, layer=0)) < 0.7
