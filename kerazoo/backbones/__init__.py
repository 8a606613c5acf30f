"""The families: a frozen config, layers, and the functional graph that joins them."""
