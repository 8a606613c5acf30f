"""What a verification found: one line a check, for people and as JSON."""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from kerazoo.export.signatures import Signature


class Status(StrEnum):
    """The outcome of one check."""

    OK = "ok"
    WARNING = "warning"  # it is served, but something should be known or mended
    FAILED = "failed"
    NOT_RUN = "not run"  # neither good nor bad: the message says why


@dataclass(frozen=True)
class Check:
    """One question that was asked of a SavedModel.

    Attributes:
        name: The question in a word or two.
        status: The outcome.
        message: What was found and, where something is wrong, what to do.
    """

    name: str
    status: Status
    message: str

    @property
    def ok(self) -> bool:
        """Whether the check was run and found nothing that stops a server."""
        return self.status in (Status.OK, Status.WARNING)

    def to_dict(self) -> dict[str, Any]:
        """Returns the check as JSON values."""
        return {
            "name": self.name,
            "ok": self.ok,
            "status": str(self.status),
            "message": self.message,
        }


@dataclass(frozen=True)
class VerificationReport:
    """Whether stock TensorFlow Serving would serve a SavedModel, and why not.

    Attributes:
        path: The version folder that was looked at.
        checks: The checks in the order in which they were made.
        signatures: The signatures by name, with inputs and outputs.
        needs_server: The oldest image whose op list covers the graph, such as ``">= 2.12"``; None
            where no stock image does.
    """

    path: Path
    checks: list[Check]
    signatures: dict[str, Signature] = field(default_factory=dict)
    needs_server: str | None = None

    @property
    def ok(self) -> bool:
        """Whether no check failed; a check that could not be run is not counted."""
        return not self.failed

    @property
    def failed(self) -> list[Check]:
        """The checks that failed."""
        return self._with_status(Status.FAILED)

    @property
    def warnings(self) -> list[Check]:
        """The checks that passed with a warning."""
        return self._with_status(Status.WARNING)

    @property
    def not_run(self) -> list[Check]:
        """The checks that could not be made."""
        return self._with_status(Status.NOT_RUN)

    def _with_status(self, status: Status) -> list[Check]:
        return [check for check in self.checks if check.status is status]

    def verdict(self) -> str:
        """Returns the conclusion in one or two sentences."""
        if self.failed:
            names = ", ".join(check.name for check in self.failed)
            return f"Stock TensorFlow Serving would not serve this folder as it should: {names}."
        verdict = f"Stock TensorFlow Serving {self.needs_server} should serve this folder."
        if self.not_run:
            names = ", ".join(check.name for check in self.not_run)
            verdict += f" This is not proved: {names} could not be checked here."
        return verdict

    def __str__(self) -> str:
        """Returns the report for people: signatures, one line a check, and the verdict."""
        width = max(len(check.name) for check in self.checks) if self.checks else 0
        lines = [str(self.path)]
        lines += [f"  {signature}" for signature in self.signatures.values()]
        lines += [
            f"  {check.status:<8} {check.name:<{width}}  {check.message}" for check in self.checks
        ]
        return "\n".join([*lines, self.verdict()])

    def to_dict(self) -> dict[str, Any]:
        """Returns the report as JSON values."""
        return {
            "path": str(self.path),
            "ok": self.ok,
            "verdict": self.verdict(),
            "needs_server": self.needs_server,
            "signatures": [signature.to_dict() for signature in self.signatures.values()],
            "checks": [check.to_dict() for check in self.checks],
        }
