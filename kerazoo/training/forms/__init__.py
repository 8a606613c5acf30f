"""What the commands need to know of each task: its files, its settings, how it is measured."""
