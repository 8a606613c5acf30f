"""Runs that are interrupted at a step, for the tests of going on with them."""

from kerazoo.training.run_progress import RunProgress


def at_step(monkeypatch, step, action):
    """Do something when a step is done."""
    original = RunProgress.on_train_batch_end

    def then_act(self, batch, logs=None):
        original(self, batch, logs)
        if self.step == step:
            action()

    monkeypatch.setattr(RunProgress, "on_train_batch_end", then_act)


def fail():
    """Do what a kill does to a test."""
    raise RuntimeError("killed")
