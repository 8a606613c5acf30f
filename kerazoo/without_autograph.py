"""A decorator for what TensorFlow traces as it stands."""

import tensorflow as tf

without_autograph = tf.autograph.experimental.do_not_convert
"""Traces a function, and all it calls, without looking for Python control flow to convert: kerazoo
has none on tensors, and looking takes seconds."""
