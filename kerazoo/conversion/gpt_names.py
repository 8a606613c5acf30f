"""The names of GPT-1 and GPT-2 in Hugging Face files and in kerazoo's variables.

Hugging Face's `Conv1D` keeps its kernels as Keras does, (inputs, outputs), so none is transposed.
Query, key and value lie side by side in one tensor, `c_attn`.
"""

from kerazoo.conversion.name_map import NameMap, Rule

HUGGINGFACE_PREFIX = "transformer."
OUTPUT_MATRIX = "lm_head.weight"
"""The output matrix of a language model; GPT's is the token embedding, so it is not stored."""

IGNORED_BUFFERS = frozenset({"h.{i}.attn.bias", "h.{i}.attn.masked_bias", "position_ids"})
"""The causal mask and the constant 0, 1, 2, … that old files hold beside the weights."""

_H, _F = "n_embd", "n_inner"
_LAYER_NORMS = (
    ("h.{i}.ln_1", "layer_{i}/attention_layer_norm"),
    ("h.{i}.ln_2", "layer_{i}/feed_forward_layer_norm"),
)
_DENSE_LAYERS = (
    ("h.{i}.attn.c_proj", "layer_{i}/attention/attention_output", _H, _H),
    ("h.{i}.mlp.c_fc", "layer_{i}/feed_forward/intermediate", _H, _F),
    ("h.{i}.mlp.c_proj", "layer_{i}/feed_forward/feed_forward_output", _F, _H),
)
_FUSED = ("query", "key", "value")


def _rules(tokens: str, positions: str, layer_norms: tuple[tuple[str, str], ...]) -> list[Rule]:
    """Return the rules of a generation, whose embeddings have names of their own."""
    rules = []
    for source, target, rows in (
        (tokens, "embeddings/token_embedding", "vocab_size"),
        (positions, "embeddings/position_embedding", "n_positions"),
    ):
        rules.append(Rule(f"{source}.weight", f"{target}/embeddings", fields=(rows, _H)))
    for source, target in layer_norms:
        rules.append(Rule(f"{source}.weight", f"{target}/gamma", fields=(_H,)))
        rules.append(Rule(f"{source}.bias", f"{target}/beta", fields=(_H,)))
    for number, name in enumerate(_FUSED):
        source, target = "h.{i}.attn.c_attn", f"layer_{{i}}/attention/{name}"
        part = (number, len(_FUSED))
        rules.append(Rule(f"{source}.weight", f"{target}/kernel", fields=(_H, _H), part=part))
        rules.append(Rule(f"{source}.bias", f"{target}/bias", fields=(_H,), part=part))
    for source, target, inputs, outputs in _DENSE_LAYERS:
        rules.append(Rule(f"{source}.weight", f"{target}/kernel", fields=(inputs, outputs)))
        rules.append(Rule(f"{source}.bias", f"{target}/bias", fields=(outputs,)))
    return rules


GPT1_TOKENS = "tokens_embed.weight"
GPT2_TOKENS = "wte.weight"

GPT1_BACKBONE = NameMap(_rules("tokens_embed", "positions_embed", _LAYER_NORMS))
GPT2_BACKBONE = NameMap(_rules("wte", "wpe", (*_LAYER_NORMS, ("ln_f", "layer_norm"))))
