"""What became of every weight when a checkpoint was loaded."""

from dataclasses import dataclass

_SHOWN = 12


@dataclass(frozen=True)
class LoadReport:
    """The outcome of loading a checkpoint into a model.

    Args:
        loaded: paths of the variables that were read from the checkpoint.
        missing: paths of the variables that the checkpoint lacks; they keep their random
            initial values. Only head weights (and the pooler of checkpoints that never had
            one) can be here: a missing backbone weight is an error.
        unused: names in the checkpoint that the model has no place for.
        source: where the weights came from, for messages.
    """

    loaded: tuple[str, ...]
    missing: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    source: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether every variable was loaded and every tensor was used."""
        return not self.missing and not self.unused

    def check_strict(self) -> "LoadReport":
        """Return the report itself if it is complete.

        Raises:
            ValueError: if a variable is missing in the checkpoint or a tensor was not used.
        """
        if not self.is_complete:
            details = " ".join(str(self).splitlines())
            raise ValueError(f"The checkpoint and the model do not match exactly. {details}")
        return self

    def __str__(self) -> str:
        """Return the report as a few lines for people."""
        origin = f" from {self.source}" if self.source else ""
        lines = [f"{_count(self.loaded, 'weight')} loaded{origin}."]
        if self.missing:
            lines.append(
                f"{_count(self.missing, 'weight')} missing in the checkpoint, randomly initialised "
                f"(train them before use): {_listed(self.missing)}."
            )
        if self.unused:
            lines.append(
                f"{_count(self.unused, 'tensor')} of the checkpoint not used by this model: "
                f"{_listed(self.unused)}."
            )
        return "\n".join(lines)


def _count(names: tuple[str, ...], noun: str) -> str:
    return f"{len(names)} {noun}{'' if len(names) == 1 else 's'}"


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:_SHOWN])
    return f"{shown}, and {len(names) - _SHOWN} more" if len(names) > _SHOWN else shown
