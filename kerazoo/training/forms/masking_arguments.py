"""How a run of masked-language modelling masks its texts."""

from typing import Any

from kerazoo.training.config import FinetuneConfig

MASKING_SETTINGS = ("masking", "segmented", "mask_selection_rate")


def masking_arguments(config: FinetuneConfig) -> dict[str, Any]:
    """Return the settings of masking that were chosen, as arguments of `from_preset`.

    The seed of the run is that of the masks too; what was not chosen is as the checkpoint says.
    """
    chosen = {name: getattr(config, name) for name in MASKING_SETTINGS}
    return {name: value for name, value in chosen.items() if value is not None}
