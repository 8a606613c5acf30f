"""Run a command of kerazoo, as one of the processes of a strategy, and kill it after a step.

Usage: python kerazoo_as_process.py STEP ARGUMENTS…; 0 for no step, -STEP for SIGTERM.
"""

import os
import signal
import sys


def kill_at(step):
    """Have this process killed when a step is done."""
    from kerazoo.training.run_progress import RunProgress

    original = RunProgress.on_train_batch_end

    def then_kill(self, batch, logs=None):
        original(self, batch, logs)
        if self.step == abs(step):
            os.kill(os.getpid(), signal.SIGKILL if step > 0 else signal.SIGTERM)

    RunProgress.on_train_batch_end = then_kill


if __name__ == "__main__":
    kill_at(int(sys.argv.pop(1)))

    from kerazoo.cli.main import main

    main()
