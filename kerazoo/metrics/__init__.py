"""Measures of a task's answers, in NumPy."""
