"""How a language model continues texts. Importing this imports no framework."""

import dataclasses
from typing import Any

from kerazoo.checks import check_positive


@dataclasses.dataclass(frozen=True)
class GenerationSettings:
    """Every setting of a continuation; the defaults stand here and nowhere else.

    Args:
        max_new_tokens: int, tokens of a continuation.
        temperature: float, divides the logits; 0 chooses the likeliest token.
        top_k: int, draw from so many of the likeliest tokens; 0 is all.
        top_p: float, draw from the likeliest tokens that have this share of probability; 1 is all.
        num_beams: int, texts that a beam search keeps; 0 is no beam search.
        seed: int, of the random numbers.
        sliding_window: bool, go on past the context limit; see `CausalLM.generate`.

    Raises:
        ValueError: if a value is out of range or two of them do not fit together.
    """

    max_new_tokens: int = 64
    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    num_beams: int = 0
    seed: int = 0
    sliding_window: bool = False

    def __post_init__(self) -> None:
        """Check the values."""
        check_positive("max_new_tokens", self.max_new_tokens)
        for name in ("temperature", "top_k", "num_beams", "seed"):
            value = getattr(self, name)
            if not 0 <= value < 2**31:
                raise ValueError(
                    f"`{name}` must be at least 0 and below 2**31. Received: {name}={value!r}"
                )
        if not 0 < self.top_p <= 1:
            raise ValueError(
                f"`top_p` must be above 0 and at most 1. Received: top_p={self.top_p!r}"
            )
        if self.num_beams and (self.temperature or self.top_k or self.top_p < 1):
            raise ValueError(
                "A beam search draws nothing at random, so it takes no temperature, top_k or "
                f"top_p. Received: num_beams={self.num_beams}, temperature={self.temperature}, "
                f"top_k={self.top_k}, top_p={self.top_p}"
            )

    @property
    def effective_temperature(self) -> float:
        """The temperature; 1 where only `top_k` or `top_p` was given, as these ask to draw."""
        draws = self.top_k > 1 or self.top_p < 1
        return 1.0 if draws and not self.temperature else self.temperature

    def sampler(self) -> Any:
        """Return the sampler for `CausalLM.compile`; it imports KerasHub."""
        import keras_nlp

        from kerazoo.generation.beam_sampler import BeamSampler

        temperature = self.effective_temperature
        if self.num_beams:
            return BeamSampler(self.num_beams)
        if not temperature or self.top_k == 1:
            return keras_nlp.samplers.GreedySampler()
        options = {"seed": self.seed, "temperature": temperature}
        if self.top_p < 1:
            return keras_nlp.samplers.TopPSampler(self.top_p, self.top_k or None, **options)
        if self.top_k:
            return keras_nlp.samplers.TopKSampler(self.top_k, **options)
        return keras_nlp.samplers.RandomSampler(**options)
