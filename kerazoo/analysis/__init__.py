"""Look inside a model: what its heads attend to, and what a linear classifier reads in its layers.

The names that users call are imported when they are first used.
"""

import importlib

_MODULE_OF = {
    "attention_maps": "kerazoo.analysis.attention",
    "head_patterns": "kerazoo.analysis.patterns",
    "plot_entropy": "kerazoo.analysis.entropy_plot",
    "plot_probe": "kerazoo.analysis.probe_plot",
    "run_probe": "kerazoo.analysis.probe",
    "write_attention_page": "kerazoo.analysis.attention_page",
}

__all__ = [*_MODULE_OF]


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module 'kerazoo.analysis' has no attribute {name!r}")
