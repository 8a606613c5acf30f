"""Optimizers and learning rates; the updates of weights that training makes."""
