"""Layers with weights, in `keras.ops` only; they know no model family.

Each public class lives in the module of the same idea, for example
`kerazoo.layers.attention.SelfAttention`.
"""
