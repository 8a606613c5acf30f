"""Named sizes: what differs from the configs' defaults. Importing this imports no framework."""

from typing import Any

from kerazoo.checks import check_one_of

_BERT_BASE = {"num_layers": 12, "num_heads": 12, "hidden_dim": 768, "intermediate_dim": 3072}
_ENGLISH_UNCASED = {"vocabulary_size": 30_522}

_GPT1 = {
    "vocabulary_size": 40_478,
    "max_sequence_length": 512,
    "normalize_first": False,
    "activation": "gelu_approximate",
}
_GPT2 = {
    "vocabulary_size": 50_257,
    "max_sequence_length": 1024,
    "normalize_first": True,
    "activation": "gelu_approximate",
}


def _gpt(generation: dict[str, Any], layers: int, heads: int, hidden: int) -> dict[str, Any]:
    """Return a size of GPT, whose feed-forward networks are four times as wide as its states."""
    return {
        **generation,
        "num_layers": layers,
        "num_heads": heads,
        "hidden_dim": hidden,
        "intermediate_dim": 4 * hidden,
    }


SIZES: dict[str, dict[str, dict[str, Any]]] = {
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
    "gpt": {
        # Radford et al. 2018, "Improving Language Understanding by Generative Pre-Training", 4.1.
        "gpt": _gpt(_GPT1, 12, 12, 768),
        # Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", table 2.
        "gpt2_small": _gpt(_GPT2, 12, 12, 768),
        "gpt2_medium": _gpt(_GPT2, 24, 16, 1024),
        "gpt2_large": _gpt(_GPT2, 36, 20, 1280),
        "gpt2_xl": _gpt(_GPT2, 48, 25, 1600),
        # For trying things out, as BERT's smallest.
        "gpt_tiny": _gpt(_GPT1, 2, 2, 128),
        "gpt2_tiny": _gpt(_GPT2, 2, 2, 128),
        "gpt2_mini": _gpt(_GPT2, 4, 4, 256),
    },
}
for _name in ("tiny", "mini", "small", "medium", "base", "large"):
    SIZES["bert"][_name] = {**_ENGLISH_UNCASED, **SIZES["bert"][_name]}


def named_size(family: str, name: str) -> dict[str, Any]:
    """Return the config values of a named size.

    Args:
        family: "bert" or "gpt".
        name: a key of `SIZES[family]`, for example "mini".

    Returns:
        A new dict of config field names and values.

    Raises:
        ValueError: for an unknown family or name.
    """
    check_one_of("family", family, SIZES)
    check_one_of("name", name, SIZES[family])
    return dict(SIZES[family][name])
