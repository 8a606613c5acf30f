"""Which masks a pre-training run has, when it does not draw them itself."""

import dataclasses

from kerazoo.data.objectives import GPT
from kerazoo.data.prepare_settings import STATIC_MASK_SETTINGS, PrepareSettings
from kerazoo.training.pretrain_config import PretrainConfig

_DRAWN = ("mask_token_rate", "random_token_rate", "ngram_unit", "replace_per_word")


def mask_settings(rows: PrepareSettings, config: PretrainConfig) -> PretrainConfig:
    """Return the settings of a run with the masks that its rows hold, or that it draws.

    Args:
        rows: how the rows are made.
        config: the settings that were given.

    Raises:
        ValueError: if masks are asked for that would not be drawn: rows with static masks have
            theirs, and a causal language model has none.
    """
    if rows.objective != GPT and not rows.static_masks:
        # Those of static masks, as drawn ones are the same.
        defaults = {name: getattr(PrepareSettings, name) for name in STATIC_MASK_SETTINGS}
        missing = {n: value for n, value in defaults.items() if getattr(config, n) is None}
        return dataclasses.replace(config, **missing)
    held = {} if rows.objective == GPT else {n: getattr(rows, n) for n in STATIC_MASK_SETTINGS}
    for name in (*STATIC_MASK_SETTINGS, *_DRAWN):
        default = PretrainConfig.__dataclass_fields__[name].default
        wanted = getattr(config, name)
        if wanted not in (default, held.get(name, default)):
            raise ValueError(f"{_why_not(held)} Received: {name}={wanted!r}")
    return dataclasses.replace(config, **held)


def _why_not(held: dict[str, object]) -> str:
    if not held:
        return "A causal language model predicts every token and has no masks; leave this out."
    listed = ", ".join(f"{name}={value!r}" for name, value in held.items())
    return (
        f"The shards hold static masks ({listed}), so training draws none. Leave this out, or "
        "prepare shards without static masks."
    )
