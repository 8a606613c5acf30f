"""What a linear classifier reads off every layer of a frozen model."""

import tempfile
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from kerazoo.analysis.analysed_model import AnalysedModel
from kerazoo.analysis.attention import row_limit
from kerazoo.analysis.control_labels import control_labels
from kerazoo.analysis.linear_probe import fit_linear_probe, one_thread
from kerazoo.analysis.probe_data import TOKEN, ProbeData
from kerazoo.analysis.probe_examples import ProbeExamples, check_can_be_split
from kerazoo.analysis.probe_result import ProbeResult
from kerazoo.analysis.probe_states import FIRST, LAST, ProbeStates, StateSettings, probe_states
from kerazoo.analysis.random_backbone import random_backbone
from kerazoo.analysis.scalar_mix import fit_scalar_mix
from kerazoo.checks import check_positive
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.training.progress import SILENT, Progress

MIX_EXAMPLES = 5_000
"""The most training examples of the scalar mix, which holds all layers in memory."""


@dataclass(frozen=True)
class ProbeSettings:
    """How probes are trained.

    Args:
        seeds: a split of the rows, control labels and a random backbone for each.
        test_fraction: float, share of the rows that is held out: sentences, not words.
        regularization: float, see `fit_linear_probe`.
        max_iterations: int, the most steps of a classifier's training.
    """

    seeds: Sequence[int] = (0, 1, 2)
    test_fraction: float = 0.2
    regularization: float = 1.0
    max_iterations: int = 1000

    def __post_init__(self) -> None:
        """Check the values."""
        if not self.seeds or len(set(self.seeds)) < len(self.seeds):
            raise ValueError(
                f"Give at least one seed, each once. Received: seeds={tuple(self.seeds)}"
            )
        check_positive("max_iterations", self.max_iterations)
        if not 0 < self.test_fraction < 1:
            raise ValueError(
                "`test_fraction` must be a number above 0 and below 1. "
                f"Received: test_fraction={self.test_fraction!r}"
            )


@dataclass
class _Runs:
    """What the seeds found so far."""

    accuracy: list[list[float]] = field(default_factory=list)
    control: list[list[float]] = field(default_factory=list)
    random: list[list[float]] = field(default_factory=list)
    majority: list[float] = field(default_factory=list)
    mix_weights: list[np.ndarray] = field(default_factory=list)
    mix_accuracy: list[float] = field(default_factory=list)
    unconverged: int = 0


def run_probe(
    model: Any,
    dataset: Any,
    level: str = TOKEN,
    tokenizer: Tokenizer | None = None,
    pooling: str | None = None,
    settings: ProbeSettings | None = None,
    sequence_length: int = 128,
    batch_size: int = 16,
    max_rows: int | None = None,
    cache: str | Path | None = None,
    progress: Progress = SILENT,
) -> ProbeResult:
    """Train a linear classifier on every layer's frozen states, beside its baselines.

    The baselines are the commonest label, the same classifiers with random labels for words or
    texts (a probe that memorises does as well there), and on a backbone of the same size that was
    never trained. A scalar mix says which layers a classifier takes if it may take all.

    Args:
        model: a task or a backbone of kerazoo, or the folder or handle of one.
        dataset: a file, or `(x, y)`; see `ProbeData.of`.
        level: "token": a label for each word. "sequence": one for each text or pair.
        tokenizer: the tokenizer of a backbone; None is the task's or the folder's own.
        pooling: which of its tokens' states stands for a word or a text: "first" (of a text
            `[CLS]`), "mean" or "last"; None is "first", and on GPT "last", as a token there does
            not see what follows.
        settings: how probes are trained; None is the defaults.
        sequence_length: int, the most tokens of a row; words behind are left out and counted.
        batch_size: int, rows computed together.
        max_rows: int, use the first rows only; None is all.
        cache: a folder where states are kept for the next time; None keeps none.
        progress: where to show what is going on.

    Raises:
        FileNotFoundError: if there is no such model or file.
        ValueError: if the data does not suit the level or cannot be split, fewer than two labels
            are left, or the model cannot be looked into.
        ModuleNotFoundError: if scikit-learn is not installed.

    Example:
        result = kerazoo.analysis.run_probe("path/to/bert", "pos.conll", level="token")
        [row["accuracy"] for row in result.rows()]
    """
    settings = settings or ProbeSettings()
    check_positive("batch_size", batch_size)
    data = ProbeData.of(dataset, level, max_rows)
    check_can_be_split(data)
    analysed = AnalysedModel.of(model, tokenizer)
    limit = row_limit(analysed, min(analysed.limit, sequence_length))
    taken = StateSettings(pooling or (LAST if analysed.causal else FIRST), limit)
    runs = _Runs()
    with _cache_folder(cache) as folder:

        def states_of(backbone: Any) -> ProbeStates:
            found = AnalysedModel(backbone, analysed.tokenizer)
            return probe_states(found, data, taken, folder, batch_size, progress)

        states = states_of(analysed.backbone)
        examples = ProbeExamples.of(data, states, limit)
        for seed in settings.seeds:
            progress.say(f"seed {seed}: probes of {states.states.shape[0]} layers")
            untrained = states_of(random_backbone(analysed.backbone, seed))
            with one_thread():
                _run_seed(runs, examples, states, untrained, seed, settings)
    return ProbeResult(
        level=level,
        pooling=taken.pooling,
        labels=examples.label_names,
        examples=len(states.rows),
        seeds=tuple(settings.seeds),
        accuracy=np.array(runs.accuracy),
        control=np.array(runs.control),
        random=np.array(runs.random),
        majority=np.array(runs.majority),
        mix_weights=np.array(runs.mix_weights),
        mix_accuracy=np.array(runs.mix_accuracy),
        unconverged=runs.unconverged,
        left_out=examples.left_out,
        sequence_length=limit,
    )


def _run_seed(
    runs: _Runs,
    examples: ProbeExamples,
    states: ProbeStates,
    untrained: ProbeStates,
    seed: int,
    settings: ProbeSettings,
) -> None:
    """Train the probes of one seed and keep what they found."""
    classes, num_classes = examples.classes, len(examples.label_names)
    train, test = examples.split(settings.test_fraction, seed)
    random_classes = control_labels(examples.types, classes, seed)

    def accuracies(layers: np.ndarray, labels: np.ndarray) -> list[float]:
        found = []
        for layer in layers:
            fit = fit_linear_probe(
                (layer[train], labels[train]),
                (layer[test], labels[test]),
                settings.regularization,
                settings.max_iterations,
            )
            runs.unconverged += not fit.converged
            found.append(fit.accuracy)
        return found

    runs.accuracy.append(accuracies(states.states, classes))
    runs.control.append(accuracies(states.states, random_classes))
    runs.random.append(accuracies(untrained.states, classes))
    commonest = np.bincount(classes[train]).argmax()
    runs.majority.append(float((classes[test] == commonest).mean()))
    some = np.random.default_rng(seed).permutation(train)[:MIX_EXAMPLES]
    mix = fit_scalar_mix(
        states.states[:, some], classes[some], num_classes, settings.regularization
    )
    runs.mix_weights.append(mix.weights)
    runs.mix_accuracy.append(mix.accuracy(states.states[:, test], classes[test]))


def _cache_folder(cache: str | Path | None) -> AbstractContextManager[Any]:
    if cache is None:
        return tempfile.TemporaryDirectory(prefix="kerazoo-probe-")
    return nullcontext(Path(cache))
