"""Beam search that gives a prompt the same text alone and in a batch."""

from collections.abc import Callable, Sequence
from typing import Any

import keras_nlp
from keras import ops, tree

from kerazoo.axes import Tensor
from kerazoo.checks import check_positive
from kerazoo.generation.stop_tokens import new_stop_tokens

_IMPOSSIBLE = -1e9


class BeamSampler(keras_nlp.samplers.BeamSampler):
    """KerasHub's beam search, mended in two places.

    KerasHub's searches on while it reads the rest of a longer prompt, so that beams carry scores of
    tokens that were never chosen; and it goes on scoring tokens after a stop token as long as
    another row is unfinished. Both make a text depend on its neighbours in the batch. Here a beam
    rests while a prompt is read, and a beam that has stopped keeps its score.

    Args:
        num_beams: int, texts kept at each step.
        return_all_beams: bool, return every beam, best first, and its log probability.
        **kwargs: `temperature`.
    """

    def __init__(self, num_beams: int = 5, return_all_beams: bool = False, **kwargs: Any) -> None:
        """Check the number of beams."""
        check_positive("num_beams", num_beams)
        super().__init__(num_beams=num_beams, return_all_beams=return_all_beams, **kwargs)

    def __call__(
        self,
        next: Callable[..., tuple[Tensor, Tensor, Any]],
        prompt: Tensor,
        cache: Any = None,
        index: Tensor | int = 0,
        mask: Tensor | None = None,
        stop_token_ids: Sequence[int] | None = None,
        hidden_states: Tensor | None = None,
        model: Any = None,
    ) -> Any:
        """Search from `index` to the end of `prompt`; see `keras_nlp.samplers.Sampler`."""
        batch, length = ops.shape(prompt)[0], ops.shape(prompt)[1]
        index = ops.cast(index, "int32")
        if mask is None:
            mask = ops.zeros_like(prompt, dtype="bool")
        mask = self._repeat(ops.cast(mask, "bool"))
        prompt = self._repeat(prompt)
        cache = tree.map_structure(self._repeat, () if cache is None else cache)
        # At first all beams of a row are one text, of which one may be continued.
        first = ops.array([[0.0] + [_IMPOSSIBLE] * (self.num_beams - 1)], dtype="float32")
        scores = ops.reshape(ops.repeat(first, batch, axis=0), (batch * self.num_beams,))

        def has_stopped(prompt: Tensor) -> Tensor:
            return ops.any(new_stop_tokens(prompt, mask, stop_token_ids), axis=-1)

        def cond(prompt: Tensor, cache: Any, index: Tensor, scores: Tensor) -> Tensor:
            return ops.logical_not(ops.all(has_stopped(prompt)))

        def body(prompt: Tensor, cache: Any, index: Tensor, scores: Tensor) -> tuple[Any, ...]:
            logits, _, cache = next(prompt, cache, index)
            rests = ops.logical_or(ops.take(mask, index, axis=1), has_stopped(prompt))
            given = ops.take(prompt, index, axis=1)
            candidates = scores[:, None] + self._log_probabilities(logits, given, rests)
            scores, beams, token = self._best(candidates)
            prompt, cache = tree.map_structure(
                lambda tensor: ops.take(tensor, beams, axis=0), (prompt, cache)
            )
            token = ops.cast(token, prompt.dtype)[:, None]
            return ops.slice_update(prompt, (0, index), token), cache, index + 1, scores

        prompt, _, _, scores = self.run_loop(
            cond,
            body,
            loop_vars=(prompt, cache, index, scores),
            maximum_iterations=ops.cast(length, "int32") - index,
            model=model,
        )
        prompt = ops.reshape(prompt, (batch, self.num_beams, length))
        scores = ops.reshape(scores, (batch, self.num_beams))
        order = ops.argsort(-scores, axis=-1)
        prompt = ops.take_along_axis(prompt, order[:, :, None], axis=1)
        if self.return_all_beams:
            return prompt, ops.take_along_axis(scores, order, axis=1)
        return prompt[:, 0]

    def _repeat(self, tensor: Tensor) -> Tensor:
        return ops.repeat(tensor, self.num_beams, axis=0)

    def _log_probabilities(self, logits: Tensor, given: Tensor, rests: Tensor) -> Tensor:
        """Return the log probabilities of each continuation, (batch * beams, vocabulary) float32.

        Args:
            logits: (batch * beams, vocabulary) float.
            given: (batch * beams,) int32, the token that stands there already.
            rests: (batch * beams,) bool, which beams are not continued.
        """
        log_probabilities = ops.log_softmax(ops.cast(logits, "float32") / self.temperature, axis=-1)
        # A resting beam has one continuation, at no cost: what stands there already. Any other
        # must lose against beams that are not in use yet, too.
        stays = ops.one_hot(given, ops.shape(logits)[-1], dtype="bool")
        resting = ops.where(stays, 0.0, 2 * _IMPOSSIBLE)
        return ops.where(rests[:, None], resting, log_probabilities)

    def _best(self, candidates: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return score, beam (a row of the flat batch) and token of the best continuations.

        Args:
            candidates: (batch * beams, vocabulary) float32.

        Returns:
            Three tensors, (batch * beams,), best first within each row of the batch.
        """
        rows, vocabulary = ops.shape(candidates)
        flat = ops.reshape(candidates, (rows // self.num_beams, self.num_beams * vocabulary))
        scores, found = ops.top_k(flat, k=self.num_beams)
        first = ops.arange(rows // self.num_beams, dtype="int32")[:, None] * self.num_beams
        found = ops.cast(found, "int32")
        beams = first + found // vocabulary
        return (
            ops.reshape(scores, (rows,)),
            ops.reshape(beams, (rows,)),
            ops.reshape(found % vocabulary, (rows,)),
        )
