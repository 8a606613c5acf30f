import numpy as np
import pytest

from kerazoo.training.config import FinetuneConfig
from kerazoo.training.optimizer import optimizer_of_run


def test_settings_of_a_run_are_those_of_its_optimizer():
    config = FinetuneConfig(
        warmup=0.25,
        weight_decay=0.03,
        clip_norm=0.7,
        on_non_finite="skip",
    )
    optimizer = optimizer_of_run(config, peak=0.5, total_steps=20)
    assert (optimizer.weight_decay, optimizer.global_clipnorm) == (0.03, 0.7)
    assert optimizer.leaves_steps_out
    rates = [float(np.asarray(optimizer._learning_rate(step))) for step in (0, 4, 5, 10, 20)]
    assert rates == pytest.approx([0, 0.4, 0.5, 1 / 3, 0])
