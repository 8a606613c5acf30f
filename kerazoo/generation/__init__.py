"""Decoding: how text is drawn from a causal language model, in Python and in a served graph."""
