"""`kerazoo data-service`: a process that prepares batches for a training elsewhere."""

import time

import click

from kerazoo.cli.options import debug_option

_PORT = 5000


@click.command("data-service")
@click.option(
    "--port",
    type=click.IntRange(0, 2**16 - 2),
    default=_PORT,
    show_default=True,
    help="It takes this port and the next one; 0 takes two free ones.",
)
@click.option(
    "--host", help="Name or address under which others reach this machine. [default: its name]"
)
@debug_option
def data_service(port: int, host: str | None) -> None:
    """Prepare batches for kerazoo pretrain --data-service, until SIGTERM or Ctrl-C.

    It is a dispatcher of tf.data service with one worker, and reads the shards under the path that
    they have where the training runs. Whoever reaches the ports can make it read files: start it
    where only your own machines do.
    """
    import socket

    from kerazoo.data.data_server import DataServer
    from kerazoo.training.stop_signals import StopSignals

    with StopSignals() as signals, DataServer(port, host or socket.gethostname()) as server:
        click.echo(f"Preparing batches for kerazoo pretrain --data-service {server.address}")
        while signals.received is None:
            time.sleep(0.1)
    click.echo("Stopped.")
