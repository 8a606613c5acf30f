"""A continuation token by token, for someone who watches."""

from collections.abc import Iterator
from typing import Any

import keras
from keras import ops

from kerazoo.layers.key_value_cache import write_where


def stream_ids(
    task: Any, prompt: list[int], max_new_tokens: int, stop_token_ids: tuple[int, ...] | None
) -> Iterator[int]:
    """Yield the ids of a continuation as they are chosen, the stop token not included.

    They equal those of `CausalLM.generate` where nothing is drawn at random.

    Args:
        task: a `CausalLM` whose sampler chooses one token at a time (not beam, not contrastive).
        prompt: the ids of one prompt, at least one.
        max_new_tokens: int, the most tokens to yield; prompt and continuation must fit the model.
        stop_token_ids: ids that end the text; None is none.
    """
    slots = len(prompt) + max_new_tokens
    every_slot = ops.arange(slots, dtype="int32")[None, None, None, :]
    read = _reader(task)
    states, cache = task.backbone.read_prompt(ops.array([prompt], dtype="int32"), slots)
    state = states[:, -1]
    for slot in range(len(prompt), slots):
        logits = task.backbone.next_token_logits(state)
        probabilities = task.sampler.compute_probabilities(logits)
        token = int(ops.convert_to_numpy(task.sampler.get_next_token(probabilities))[0])
        if token in (stop_token_ids or ()):
            return
        yield token
        position = ops.array([slot], dtype="int32")
        state, cache = read(ops.array([[token]], dtype="int32"), cache, position, every_slot)


def stream_texts(
    task: Any, prompt: list[int], max_new_tokens: int, stop_token_ids: tuple[int, ...] | None
) -> Iterator[str]:
    """Yield pieces of a continuation; together they are its text.

    A character whose bytes are not complete yet waits for them.

    Args:
        task: a `CausalLM` with a preprocessor.
        prompt: the ids of one prompt.
        max_new_tokens: int, the most tokens.
        stop_token_ids: ids that end the text; None is none.
    """
    new: list[int] = []
    shown = ""
    for token in stream_ids(task, prompt, max_new_tokens, stop_token_ids):
        new.append(token)
        (text,) = task.preprocessor.texts([new])
        if not text.endswith("\N{REPLACEMENT CHARACTER}"):
            yield text[len(shown) :]
            shown = text
    (text,) = task.preprocessor.texts([new])
    if len(text) > len(shown):
        yield text[len(shown) :]


def can_stream(task: Any) -> bool:
    """Return whether the task's sampler chooses one token at a time."""
    import keras_nlp

    searches = (keras_nlp.samplers.BeamSampler, keras_nlp.samplers.ContrastiveSampler)
    return not isinstance(task.sampler, searches)


def _reader(task: Any) -> Any:
    """Return a function that reads one more token, traced once on TensorFlow."""

    def read(token: Any, cache: Any, position: Any, every_slot: Any) -> tuple[Any, Any]:
        states, cache = task.backbone.read_token(
            token,
            cache,
            position[0],
            positions=position,
            visible=every_slot <= position[0],
            write=write_where,
        )
        return states[:, 0], cache

    if keras.config.backend() == "tensorflow":
        import tensorflow as tf

        return tf.function(read)
    return read
