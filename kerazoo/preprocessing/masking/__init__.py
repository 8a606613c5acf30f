"""Masked language modelling: which tokens are chosen, and what stands in their place."""
