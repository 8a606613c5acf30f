"""The text of a model server's three configuration files, for a folder of many models.

models.config    which models, which versions of each, and names (labels) for versions
batching.txt     how requests are joined into batches
monitoring.txt   where the server shows its metrics
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kerazoo.export.version_folder import is_version_name

DEFAULT_ALLOWED_BATCH_SIZES = (1, 2, 4, 8, 16, 32)
# What the server takes apart in a request's path: /v1/models/NAME/labels/LABEL:predict
_NAME = re.compile(r"[A-Za-z0-9_.\-]+")


@dataclass(frozen=True)
class ServedModel:
    """One model of a server.

    Attributes:
        name: The name in requests.
        base_path: The folder of its versions, as the server sees it.
        versions: The versions to serve; empty for the highest alone.
        labels: Names for versions, such as ``{"stable": 3, "canary": 4}``.
    """

    name: str
    base_path: str
    versions: Sequence[int] = ()
    labels: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks the names, and that labels name versions that are served."""
        for what, name in [("name", self.name), *(("label", label) for label in self.labels)]:
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"A model's {what} stands in the request's path: use letters, digits, '_', "
                    f"'-' and '.' only. Received: {what}={name!r}"
                )
        for label, version in self.labels.items():
            if version not in self.versions:
                raise ValueError(
                    f"The label '{label}' of model '{self.name}' names a version that is not "
                    "served, which a server refuses; add it to versions. "
                    f"Received: version={version}, versions={list(self.versions)}"
                )


def find_models(base: str | Path, served_base: str = "/models") -> list[ServedModel]:
    """Finds the exported models in a folder.

    Args:
        base: A folder with a base folder for each model, such as ``saved_models``.
        served_base: The same folder as the server sees it; ``/models`` in the stock image.

    Returns:
        A model for each folder that holds at least one numbered version, sorted by name.

    Raises:
        FileNotFoundError: If there is no such folder.
    """
    folder = Path(base)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"There is no folder of models to look through. Received: base={base}"
        )
    return [
        ServedModel(model.name, f"{served_base.rstrip('/')}/{model.name}")
        for model in sorted(folder.iterdir())
        if model.is_dir() and any(is_version_name(child.name) for child in model.iterdir())
    ]


def models_config(models: Sequence[ServedModel]) -> str:
    """Returns the text of ``models.config`` (``--model_config_file``).

    Args:
        models: The models; see `find_models`.

    Returns:
        A ``ModelServerConfig`` as protocol buffer text.

    Raises:
        ValueError: If there is no model, or two have one name.
    """
    names = [model.name for model in models]
    if not names or len(set(names)) < len(names):
        raise ValueError(
            f"A server needs at least one model, and each name once. Received: names={names}"
        )
    entries = "".join(_model_entry(model) for model in models)
    return f"model_config_list {{\n{entries}}}\n"


def _model_entry(model: ServedModel) -> str:
    lines = [
        f'name: "{model.name}"',
        f'base_path: "{_escape(model.base_path)}"',
        'model_platform: "tensorflow"',
    ]
    if model.versions:
        versions = " ".join(f"versions: {version}" for version in sorted(set(model.versions)))
        lines.append(f"model_version_policy {{ specific {{ {versions} }} }}")
    lines += [
        f'version_labels {{ key: "{label}" value: {version} }}'
        for label, version in sorted(model.labels.items())
    ]
    inside = "".join(f"    {line}\n" for line in lines)
    return f"  config {{\n{inside}  }}\n"


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def batching_parameters(
    allowed_batch_sizes: Sequence[int] = DEFAULT_ALLOWED_BATCH_SIZES,
    batch_timeout_micros: int = 1000,
    num_batch_threads: int = 4,
    max_enqueued_batches: int = 100,
) -> str:
    """Returns the text of ``batching.txt`` (``--batching_parameters_file``, ``--enable_batching``).

    Args:
        allowed_batch_sizes: The batch sizes the graph is run with, ascending; the last is the
            largest batch, and a bigger request is refused.
        batch_timeout_micros: Microseconds a request may wait for others to join it.
        num_batch_threads: Batches that may run at once; the number of cores is a start.
        max_enqueued_batches: Batches that may wait; beyond that requests are turned away.

    Returns:
        A ``BatchingParameters`` as protocol buffer text.

    Raises:
        ValueError: If the sizes are not positive and ascending, or another number is negative.
    """
    sizes = list(allowed_batch_sizes)
    if not sizes or sizes[0] < 1 or sorted(set(sizes)) != sizes:
        raise ValueError(
            "Batch sizes must be positive and ascending, or the server does not load the model. "
            f"Received: allowed_batch_sizes={sizes}"
        )
    if batch_timeout_micros < 0 or num_batch_threads < 1 or max_enqueued_batches < 1:
        raise ValueError(
            "A server needs a waiting time of 0 or more, and at least one batch thread and one "
            f"waiting batch. Received: batch_timeout_micros={batch_timeout_micros}, "
            f"num_batch_threads={num_batch_threads}, max_enqueued_batches={max_enqueued_batches}"
        )
    lines = [
        f"max_batch_size {{ value: {sizes[-1]} }}",
        f"batch_timeout_micros {{ value: {batch_timeout_micros} }}",
        f"num_batch_threads {{ value: {num_batch_threads} }}",
        f"max_enqueued_batches {{ value: {max_enqueued_batches} }}",
        *(f"allowed_batch_sizes: {size}" for size in sizes),
    ]
    return "\n".join(lines) + "\n"


def monitoring_config(path: str = "/monitoring/prometheus/metrics") -> str:
    """Returns the text of ``monitoring.txt`` (``--monitoring_config_file``).

    Args:
        path: Where the REST port shows the metrics, in Prometheus' format.

    Returns:
        A ``MonitoringConfig`` as protocol buffer text.

    Raises:
        ValueError: If the path does not begin with a slash.
    """
    if not path.startswith("/"):
        raise ValueError(f"The path of the metrics must begin with '/'. Received: path={path!r}")
    return f'prometheus_config {{\n  enable: true\n  path: "{_escape(path)}"\n}}\n'
