"""Replay warm-up requests against a loaded model, as a server does before it calls it available."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kerazoo.export.prediction_log import PredictionLog
from kerazoo.export.server_session import ModelError
from kerazoo.export.signatures import Signature
from kerazoo.export.verification_report import Check, Status

Arrays = dict[str, np.ndarray]
# What to do about errors whose words do not say it.
REMEDIES = {
    "Could not find variable": (
        "Do not save a tf.Module (or archive) that has a Keras model as an attribute: trace the "
        "function first and keep only its variables, tokenizers and tables."
    ),
    "Table not initialized": "Track the table or the tokenizer that holds it in what is saved.",
}


class LoadedModel(Protocol):
    """Something that answers requests: a `ServerSession` or a `PythonSession`."""

    @property
    def is_alive(self) -> bool:
        """Whether it can be asked more: a process may have ended."""
        ...

    def run(self, signature: Signature, inputs: Arrays) -> Arrays:
        """Answers one request; raises `ModelError` where the model fails."""
        ...


@dataclass(frozen=True)
class Answer:
    """A request and what the model answered: an array for each output of the signature."""

    signature: Signature
    inputs: Arrays
    outputs: Arrays


def check_replay(
    model: LoadedModel, signatures: dict[str, Signature], logs: list[PredictionLog]
) -> tuple[Check, list[Answer]]:
    """Replays every warm-up request.

    Args:
        model: The loaded model.
        signatures: The signatures by name.
        logs: Requests that fit the signatures.

    Returns:
        The check, and the answers of the requests that were answered.
    """
    answers, faults = [], []
    for position, log in enumerate(logs):
        signature = signatures[log.signature_name]
        try:
            answers.append(Answer(signature, log.inputs, model.run(signature, log.inputs)))
        except ModelError as error:
            text = shorten(error)
            faults.append(f"request {position} ({signature.name}): {text}{_remedy(text)}")
    if faults:
        fail = "fails" if len(faults) == 1 else "fail"
        message = f"{len(faults)} of {len(logs)} requests {fail}; the first is {faults[0]}"
        return Check("replay", Status.FAILED, message), answers
    if not logs:
        message = "There is no warm-up request to replay; write a warm-up file."
        return Check("replay", Status.NOT_RUN, message), answers
    return Check(
        "replay", Status.OK, f"{len(logs)} of {len(logs)} warm-up requests are answered."
    ), answers


def _remedy(error: str) -> str:
    remedies = [remedy for sign, remedy in REMEDIES.items() if sign in error]
    return f" {remedies[0]}" if remedies else ""


def shorten(error: Exception, limit: int = 500) -> str:
    """Returns an error's message on one line, cut to a length that can be read."""
    text = " ".join(str(error).split())
    return text if len(text) <= limit else f"{text[:limit]} …"
