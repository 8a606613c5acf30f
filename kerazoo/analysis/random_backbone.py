"""A backbone of the same size with random weights: what a probe finds without any training."""

import random
from dataclasses import asdict

from kerazoo.backbones.base import Backbone


def random_backbone(backbone: Backbone, seed: int) -> Backbone:
    """Return a newly initialised backbone of the same config, in float32.

    Args:
        backbone: whose config is taken.
        seed: int, seed of the weights; the caller's random numbers go on as if nothing happened.
    """
    before = random.getstate()
    random.seed(seed)  # Keras draws the seeds of its initializers from here
    try:
        return type(backbone)(**asdict(backbone.config), dtype="float32")
    finally:
        random.setstate(before)
