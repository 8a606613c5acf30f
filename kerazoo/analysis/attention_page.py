"""The attention on one text as a page that a browser opens: one file, which asks no network."""

import base64
import html
import json
import zlib
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from kerazoo.analysis.attention import AttentionMap
from kerazoo.analysis.patterns import HeadPatterns
from kerazoo.analysis.token_labels import token_labels, unusual_entries
from kerazoo.conversion.new_file import new_file

WEIGHT_DECIMALS = 4
"""The decimals of weights, which the page holds rounded to them: what it shows is exact."""

MEASURE_DECIMALS = 3
"""The decimals of entropies and the other measures of heads."""

_SCRIPTS = ("attention_page.js", "attention_page_text.js", "attention_page_plots.js")
_LAST_SCRIPT = "attention_page_heads.js"


def write_attention_page(
    found: AttentionMap, patterns: HeadPatterns, path: str | Path, title: str = "a model"
) -> None:
    """Write a page that shows the attention on a text, or pair, of every layer and head.

    It is one file: styles, script and numbers are in it, and nothing is asked of a network. It
    needs a browser of 2024 or later.

    Args:
        found: from `attention_maps`.
        patterns: from `head_patterns`, on the same text.
        path: the file to write: .html.
        title: what the page calls the model.

    Raises:
        FileExistsError: if there is something at the path already.
        ValueError: for another ending, or patterns of another model or of several texts.

    Example:
        (found,) = kerazoo.analysis.attention_maps("path/to/bert", "The cat sat.")
        patterns = kerazoo.analysis.head_patterns("path/to/bert", "The cat sat.")
        kerazoo.analysis.write_attention_page(found, patterns, "page.html")
    """
    check_page_path(path)
    layers, heads, tokens, _ = found.weights.shape
    if patterns.mean.shape[:2] != (layers, heads) or patterns.texts != 1:
        raise ValueError(
            "Give the patterns of the same model on the one text that the page shows. Received: "
            f"patterns of {patterns.texts} texts, (layers, heads)={patterns.mean.shape[:2]} "
            f"where the attention has {(layers, heads)}"
        )
    # A text may hold "</script>"; in JSON "<" stands in strings alone, where it may be written so.
    data = json.dumps(_content(found, patterns), ensure_ascii=False).replace("<", "\\u003c")
    page = Template(_part("attention_page.html")).substitute(
        title=html.escape(title),
        facts=f"{layers} layers of {heads} heads, {tokens} tokens",
        style=_part("attention_page.css"),
        script="\n".join(_part(name) for name in (*_SCRIPTS, _LAST_SCRIPT)),
        data=data,
    )
    with new_file(path) as file:
        file.write_text(page, encoding="utf-8")


def check_page_path(path: str | Path) -> None:
    """Raise ValueError unless the ending of a page's name lets a browser open it."""
    if not str(path).lower().endswith((".html", ".htm")):
        raise ValueError(f"A page is an .html file. Name it so. Received: path={str(path)!r}")


def _content(found: AttentionMap, patterns: HeadPatterns) -> dict[str, Any]:
    """Return what the page's script reads."""
    layers, heads, _, _ = found.weights.shape
    entropy = patterns.measures.index("entropy")
    labels = zip(token_labels(found), unusual_entries(found), strict=True)
    places = zip(found.segment_ids.tolist(), found.offsets.tolist(), strict=True)
    return {
        "texts": list(found.texts),
        "tokens": [
            {"label": label, "entry": entry, "segment": segment, "start": start, "end": end}
            for (label, entry), (segment, (start, end)) in zip(labels, places, strict=True)
        ],
        "layers": layers,
        "heads": heads,
        "scale": 10**WEIGHT_DECIMALS,
        "weight_decimals": WEIGHT_DECIMALS,
        "measure_decimals": MEASURE_DECIMALS,
        "weights": _packed(found.weights),
        "measures": _measures(patterns),
        "layer_entropy": np.round(patterns.layer_mean[:, entropy], MEASURE_DECIMALS).tolist(),
        "uniform_entropy": _uniform_entropy(found.weights),
    }


def _packed(weights: np.ndarray) -> str:
    """Return rounded weights as text: all low bytes, then all high ones, deflated, in base 64."""
    # In float64 the product is exact, so that this rounds as formatting a weight does.
    rounded = [np.rint(layer.astype("float64") * 10**WEIGHT_DECIMALS) for layer in weights]
    numbers = np.stack(rounded).astype("<u2")
    planes = numbers.reshape(-1, 1).view("uint8").T
    return base64.b64encode(zlib.compress(planes.tobytes(), level=9)).decode("ascii")


def _measures(patterns: HeadPatterns) -> list[dict[str, Any]]:
    """Return name and values, (layers, heads), of each measure that means something here."""
    found = []
    for column, name in enumerate(patterns.measures):
        values = patterns.mean[:, :, column]
        if not np.isnan(values).all():
            rounded = [
                [None if np.isnan(value) else round(value, MEASURE_DECIMALS) for value in row]
                for row in values.tolist()
            ]
            found.append({"name": name, "values": rounded})
    return found


def _uniform_entropy(weights: np.ndarray) -> float:
    """Return the mean entropy, in nats, of rows that look at all they see alike."""
    tokens = weights.shape[-1]
    is_causal = tokens > 1 and not np.triu(weights, k=1).any()
    seen = np.arange(1, tokens + 1) if is_causal else np.full(tokens, tokens)
    return float(np.log(seen).mean())


def _part(name: str) -> str:
    return resources.files("kerazoo.analysis").joinpath(name).read_text(encoding="utf-8")
