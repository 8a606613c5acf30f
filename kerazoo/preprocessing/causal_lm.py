"""Raw texts to the inputs, targets and weights of a `CausalLM`, and prompts to inputs."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from kerazoo.axes import PADDING_MASK, TOKEN_IDS
from kerazoo.checks import check_positive
from kerazoo.preprocessing.base import Preprocessor, texts_of
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.tokenizers.texts import to_text_tensor


@keras.saving.register_keras_serializable(package="kerazoo")
class CausalLMPreprocessor(Preprocessor):
    """Tokenise texts and set each token as the target of the one before it.

    The end token is a target where the text really ends; a text that is cut has none. Padding is
    told by the weights and not by its id, which is the end token's own.

    Args:
        tokenizer: a byte-level or GPT-1 tokenizer.
        sequence_length: int, the most positions of a row; what is longer is cut.
        add_start_token: bool, begin with the tokenizer's start token (GPT-2's is the end token).
        add_end_token: bool, end with the tokenizer's end token, if it has one.
        pad_to_multiple_of: int, pad each batch only to its longest row rounded up to a multiple of
            this; None pads to `sequence_length` (static shapes).
        **kwargs: `name` and the like of `keras.layers.Layer`.

    Call arguments:
        x: (batch,) string.
        y: not used; targets come from the texts.
        sample_weight: (batch,) float, optional, one weight a text.

    Returns:
        `(features, targets, weights)`: a dict of `token_ids` and `padding_mask`, each (batch, seq)
        int32; (batch, seq) int32; (batch, seq) float32, 0 on padding.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sequence_length: int = 1024,
        add_start_token: bool = False,
        add_end_token: bool = True,
        pad_to_multiple_of: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(tokenizer, **kwargs)
        check_positive("sequence_length", sequence_length)
        if pad_to_multiple_of is not None:
            check_positive("pad_to_multiple_of", pad_to_multiple_of)
        self.sequence_length = sequence_length
        self.add_start_token = add_start_token
        self.add_end_token = add_end_token
        self.pad_to_multiple_of = pad_to_multiple_of

    def preprocess(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch; see the class."""
        (texts,) = texts_of(x)
        ids = self.tokens(texts, with_end=True)
        # One position more, since the targets are the inputs shifted by one.
        ids = ids[:, : self.sequence_length + 1]
        width = self._width(ids)
        dense = ids.to_tensor(self.tokenizer.pad_token_id, shape=tf.stack([-1, width + 1]))
        dense = tf.ensure_shape(dense, (None, None if tf.is_tensor(width) else width + 1))
        lengths = tf.cast(ids.row_lengths(), tf.int32)[:, tf.newaxis]
        positions = tf.range(width)[tf.newaxis, :]
        weights = tf.cast(positions + 1 < lengths, tf.float32)
        if sample_weight is not None:
            weights *= tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)[:, tf.newaxis]
        features = {
            TOKEN_IDS: dense[:, :-1],
            PADDING_MASK: tf.cast(positions < lengths, tf.int32),
        }
        return features, dense[:, 1:], weights

    def tokens(self, texts: tf.Tensor, with_end: bool) -> tf.RaggedTensor:
        """Return the ids of texts, (batch, tokens) int32, with the start and end tokens asked for.

        Args:
            texts: (batch,) string.
            with_end: bool, add the end token too (a prompt has none).
        """
        ids = self.tokenizer.tokenize(texts)
        tokenizer: Any = self.tokenizer
        if self.add_start_token:
            ids = tf.concat([self._column(ids, tokenizer.start_token_id), ids], axis=1)
        if with_end and self.add_end_token and tokenizer.end_token_id is not None:
            ids = tf.concat([ids, self._column(ids, tokenizer.end_token_id)], axis=1)
        return ids

    def prompt_ids(self, prompts: Any) -> list[list[int]]:
        """Return the ids of each prompt; the end token is not added.

        Args:
            prompts: (batch,) string.

        Raises:
            TypeError: if a prompt is no text, or the prompts have no order.
        """
        if getattr(prompts, "shape", None) == ():
            prompts = prompts.numpy() if tf.is_tensor(prompts) else prompts.item()
        if not tf.is_tensor(prompts):
            # The keys of a dict would be continued, and a set has no order for the answers.
            if not isinstance(prompts, Iterable) or isinstance(prompts, (Mapping, Set)):
                raise TypeError(
                    f"Prompts are a string or a list of strings. Received: prompts={prompts!r}"
                )
            prompts = [prompts] if isinstance(prompts, (str, bytes)) else list(prompts)
            for number, prompt in enumerate(prompts):
                if not isinstance(prompt, (str, bytes)):
                    raise TypeError(
                        f"Prompt {number} is no text. Pass a string or a list of strings. "
                        f"Received: {prompt!r}"
                    )
            prompts = to_text_tensor(prompts)
        with tf.device("cpu"):
            return self.tokens(texts_of(prompts)[0], with_end=False).to_list()

    def texts(self, rows: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of each row of ids, without start and end tokens.

        Args:
            rows: ids; bytes that are no UTF-8 become U+FFFD.
        """
        tokenizer: Any = self.tokenizer
        marks = {tokenizer.end_token_id}
        if self.add_start_token:
            marks.add(tokenizer.start_token_id)
        kept = [[token for token in row if token not in marks] for row in rows]
        with tf.device("cpu"):
            ragged = tf.ragged.constant(kept, dtype=tf.int32, ragged_rank=1)
            texts = tokenizer.detokenize(ragged).numpy()
        return [text.decode("utf-8", errors="replace") for text in texts]

    def generate_preprocess(self, x: Any, sequence_length: int | None = None) -> dict[str, Any]:
        """Turn prompts into padded inputs for generation, as KerasHub's method of this name.

        Args:
            x: (batch,) string.
            sequence_length: int, positions of a row, those to be filled included; None is the
                preprocessor's own.

        Returns:
            dict of `token_ids` and `padding_mask`, each (batch, sequence_length) int32 arrays.

        Raises:
            ValueError: if a prompt is empty or leaves no room for a token.
        """
        length = sequence_length or self.sequence_length
        rows = self.prompt_ids(x)
        check_prompts(rows, [length] * len(rows))
        token_ids, padding_mask = padded(rows, length, self.tokenizer.pad_token_id)
        return {TOKEN_IDS: token_ids, PADDING_MASK: padding_mask}

    def generate_postprocess(self, x: dict[str, Any]) -> list[str]:
        """Turn generated ids into texts, as KerasHub's method of this name.

        Args:
            x: dict of `token_ids` and `padding_mask`, each (batch, seq) int.
        """
        token_ids = keras.ops.convert_to_numpy(x[TOKEN_IDS])
        mask = keras.ops.convert_to_numpy(x[PADDING_MASK]).astype(bool)
        return self.texts([ids[kept].tolist() for ids, kept in zip(token_ids, mask, strict=True)])

    def count_truncated(self, x: Any, batch_size: int = 1024) -> int:
        """Return how many of the texts are longer than `sequence_length`.

        Args:
            x: texts, all of them at once.
            batch_size: int, texts that are tokenised together.
        """
        (texts,) = texts_of(x)
        count = 0
        for start in range(0, int(texts.shape[0]), batch_size):
            ids = self.tokens(texts[start : start + batch_size], with_end=True)
            too_long = ids.row_lengths() > self.sequence_length + 1
            count += int(tf.math.count_nonzero(too_long))
        return count

    def _width(self, ids: tf.RaggedTensor) -> int | tf.Tensor:
        if self.pad_to_multiple_of is None:
            return self.sequence_length
        # The appended 2 keeps the maximum defined for a batch of zero.
        lengths = tf.concat([tf.cast(ids.row_lengths(), tf.int32), [2]], axis=0)
        multiple = self.pad_to_multiple_of
        rounded = -(-(tf.reduce_max(lengths) - 1) // multiple) * multiple
        return tf.minimum(rounded, self.sequence_length)

    def _column(self, ids: tf.RaggedTensor, token_id: int) -> tf.Tensor:
        return tf.fill([ids.nrows(), 1], token_id)

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "sequence_length": self.sequence_length,
            "add_start_token": self.add_start_token,
            "add_end_token": self.add_end_token,
            "pad_to_multiple_of": self.pad_to_multiple_of,
        }


def padded(
    rows: Sequence[Sequence[int]], width: int, pad_token_id: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return ids and mask of rows, padded at the end, each (rows, width) int32."""
    token_ids = np.full((len(rows), width), pad_token_id, dtype="int32")
    padding_mask = np.zeros((len(rows), width), dtype="int32")
    for number, row in enumerate(rows):
        token_ids[number, : len(row)] = row
        padding_mask[number, : len(row)] = 1
    return token_ids, padding_mask


def check_prompts(rows: Sequence[Sequence[int]], lengths: Sequence[int]) -> None:
    """Raise ValueError unless every prompt has a token and leaves room for another one.

    Args:
        rows: the token ids of each prompt.
        lengths: for each prompt the positions that it and its continuation may have together.
    """
    for number, (row, length) in enumerate(zip(rows, lengths, strict=True)):
        if not row:
            raise ValueError(
                f"Prompt {number} has no token, and there is nothing to continue. Give it some "
                "text (in Python, a preprocessor with `add_start_token=True` begins from nothing). "
                f"Received: 0 tokens in prompt {number}"
            )
        if len(row) >= length:
            raise ValueError(
                f"Prompt {number} leaves no room for a new token: prompt and continuation may have "
                f"{length} tokens together. Shorten the prompt, or raise the limit. "
                f"Received: {len(row)} tokens in prompt {number}"
            )
