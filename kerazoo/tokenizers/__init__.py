"""Tokenizers that give ids and character offsets, as TensorFlow graph operations."""
