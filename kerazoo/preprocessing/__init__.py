"""The data side, in TensorFlow: the same graph eagerly, in `tf.data` and in a served model."""
