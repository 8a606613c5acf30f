"""Pre-train as one of the processes of a strategy, and write what came of it and what was decoded.

Usage: python pretrain_as_process.py STRATEGY SHARDS PRESET FILE [ADDRESS]
"""

import json
import sys
import tempfile
from pathlib import Path

BATCH = 6


def trained(strategy, shards, preset, addresses):
    """The evaluations of a run, and how many rows of each batch were decoded to train on."""
    from kerazoo.data.row_format import RowFormat
    from kerazoo.training.pretrain import pretrain
    from kerazoo.training.pretrain_config import PretrainConfig

    decoded = []
    parse = RowFormat.parse

    def noted(row_format, records):
        decoded.append(records.shape[0])  # None for the batches of an evaluation
        return parse(row_format, records)

    RowFormat.parse = noted
    config = PretrainConfig(
        steps=3, batch_size=BATCH, learning_rate=0.001, evaluate_every=2, seed=3
    )
    with tempfile.TemporaryDirectory() as folder:
        options = {"preset": preset, "strategy": strategy, "data_service": addresses}
        metrics = pretrain(shards, Path(folder) / "out", config, **options).metrics
    times = ("seconds", "tokens_per_second", "waiting_share")
    history = [{k: v for k, v in e.items() if k not in times} for e in metrics["evaluations"]]
    return {"evaluations": history, "decoded": sorted({rows for rows in decoded if rows})}


if __name__ == "__main__":
    strategy, shards, preset, file, *addresses = sys.argv[1:]
    Path(file).write_text(json.dumps(trained(strategy, shards, preset, addresses)))
