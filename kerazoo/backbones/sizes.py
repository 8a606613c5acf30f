"""Named sizes: what differs from `BertConfig`'s defaults. Importing this imports no framework."""

from kerazoo.checks import check_one_of

_BERT_BASE = {"num_layers": 12, "num_heads": 12, "hidden_dim": 768, "intermediate_dim": 3072}
_ENGLISH_UNCASED = {"vocabulary_size": 30_522}

SIZES: dict[str, dict[str, dict[str, int]]] = {
    "bert": {
        # Turc et al. 2019, https://arxiv.org/abs/1908.08962, table 1.
        "tiny": {"num_layers": 2, "num_heads": 2, "hidden_dim": 128, "intermediate_dim": 512},
        "mini": {"num_layers": 4, "num_heads": 4, "hidden_dim": 256, "intermediate_dim": 1024},
        "small": {"num_layers": 4, "num_heads": 8, "hidden_dim": 512, "intermediate_dim": 2048},
        "medium": {"num_layers": 8, "num_heads": 8, "hidden_dim": 512, "intermediate_dim": 2048},
        # Devlin et al. 2018, https://arxiv.org/abs/1810.04805, section 3.
        "base": _BERT_BASE,
        "large": {"num_layers": 24, "num_heads": 16, "hidden_dim": 1024, "intermediate_dim": 4096},
        "bert_base_chinese": {**_BERT_BASE, "vocabulary_size": 21_128},
        # Wang et al. 2020, https://arxiv.org/abs/2002.10957 (6 layers, 384 wide).
        "minilm_l6": {
            **_ENGLISH_UNCASED,
            "num_layers": 6,
            "num_heads": 12,
            "hidden_dim": 384,
            "intermediate_dim": 1536,
        },
    },
}
for _name in ("tiny", "mini", "small", "medium", "base", "large"):
    SIZES["bert"][_name] = {**_ENGLISH_UNCASED, **SIZES["bert"][_name]}


def named_size(family: str, name: str) -> dict[str, int]:
    """Return the config values of a named size.

    Args:
        family: "bert".
        name: a key of `SIZES[family]`, for example "mini".

    Returns:
        A new dict of config field names and values.

    Raises:
        ValueError: for an unknown family or name.
    """
    check_one_of("family", family, SIZES)
    check_one_of("name", name, SIZES[family])
    return dict(SIZES[family][name])
