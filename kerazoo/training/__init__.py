"""Train a task, measure it and ask it, from files to files."""
