"""One class a task, each on any backbone."""
