"""Causal language modelling: the next token, and texts that are continued token by token."""

from collections.abc import Iterator, Sequence
from typing import Any

import keras
import keras_nlp
from keras import ops

from kerazoo.axes import PADDING_MASK, SEQUENCE_OUTPUT, TEXT, TOKEN_IDS, Tensor
from kerazoo.checks import check_known_arguments
from kerazoo.generation.generate import (
    PROMPT_IDS,
    TEXT_LENGTHS,
    Request,
    check_fits,
    generate_rows,
)
from kerazoo.generation.samplers import checked_sampler, seed_sampler
from kerazoo.generation.stop_tokens import checked_stop_token_ids, new_stop_tokens
from kerazoo.generation.stream import can_stream, stream_texts
from kerazoo.metrics.perplexity import Perplexity
from kerazoo.preprocessing.causal_lm import CausalLMPreprocessor
from kerazoo.tasks.base import Task
from kerazoo.tasks.causal_lm_signatures import causal_lm_signatures
from kerazoo.tasks.compile_defaults import (
    default_jit_compile,
    default_optimizer,
    weighted_cross_entropy,
)
from kerazoo.tasks.preprocessor_checks import check_row_length, check_vocabulary_size
from kerazoo.tasks.serving_signature import ServingSignature


@keras.saving.register_keras_serializable(package="kerazoo")
class CausalLM(Task, keras_nlp.models.CausalLM):
    """A language model that predicts each token from those before it, and generates text.

    P(next token) = softmax(h W_eᵀ), with the token embedding as output matrix (Radford et al. 2018,
    equation 2). The loss is the mean cross-entropy over real tokens, Σ w l / Σ w: padding has
    weight 0, the end token of a text that ends has weight 1.

    Args:
        backbone: a `GPTBackbone`.
        preprocessor: a `CausalLMPreprocessor`; None if `fit` and `generate` get ready inputs.
        **kwargs: `name`, `compile`.

    Outputs:
        (batch, seq, vocabulary) float32 logits.

    Raises:
        ValueError: if the backbone does not read from left to right, or the preprocessor packs rows
            longer than it reads.

    Example:
        task = kerazoo.CausalLM.from_preset("path/to/gpt2")
        task.generate("The weather tomorrow", max_new_tokens=20)
        task.fit(["a text", "another text"], epochs=1)
    """

    task_name = "causal-lm"
    preprocessor_cls = CausalLMPreprocessor
    needs_labels = False
    generate_function: Any = None

    def __init__(
        self,
        backbone: keras.Model,
        preprocessor: CausalLMPreprocessor | None = None,
        **kwargs: Any,
    ) -> None:
        """Create the functional graph on the backbone."""
        check_known_arguments(
            type(self).__name__, kwargs, ("name", "compile", "trainable", "dtype")
        )
        if not hasattr(backbone, "read_token"):
            raise ValueError(
                "A causal language model needs a backbone that reads from left to right, such as "
                f"GPTBackbone. Received: backbone={type(backbone).__name__}"
            )
        if preprocessor is not None:
            check_row_length(preprocessor, backbone)
            check_vocabulary_size(preprocessor, backbone)
        self.backbone = backbone
        self.preprocessor = preprocessor
        self.pairs = False
        self.labels: list[str] = []
        # In float32 under every policy, so that softmax and loss are exact.
        self.output_activation = keras.layers.Activation("linear", dtype="float32", name="logits")
        states = backbone(backbone.input)[SEQUENCE_OUTPUT]
        logits = self.output_activation(backbone.next_token_logits(states))
        super().__init__(inputs=backbone.input, outputs=logits, **kwargs)

    def compile(
        self,
        optimizer: Any = "auto",
        loss: Any = "auto",
        *,
        weighted_metrics: Any = "auto",
        sampler: Any = "greedy",
        jit_compile: bool | str = "auto",
        **kwargs: Any,
    ) -> None:
        """Set loss, optimizer, metrics and sampler; each has a default.

        Args:
            optimizer: "auto" is Adam with a learning rate of 5e-5.
            loss: "auto" is sparse categorical cross-entropy over real tokens, Σ w l / Σ w.
            weighted_metrics: "auto" is accuracy and perplexity over real tokens.
            sampler: how `generate` chooses tokens: "greedy", "random", "top_k", "top_p", "beam",
                "contrastive", or a `keras_nlp.samplers.Sampler`. Wrong ones are a TypeError or a
                ValueError, as in `kerazoo.generation.samplers.checked_sampler`.
            jit_compile: "auto" is Keras's choice on JAX and PyTorch; on TensorFlow training runs
                without XLA, which gains nothing there on a CPU, and generation with it. True and
                False hold for both.
            **kwargs: further arguments of `keras.Model.compile`.
        """
        if loss == "auto":
            loss = weighted_cross_entropy()
        if weighted_metrics == "auto":
            weighted_metrics = [
                keras.metrics.SparseCategoricalAccuracy(name="accuracy"),
                Perplexity(),
            ]
        self._compiles_generation = jit_compile is not False
        super().compile(
            optimizer=default_optimizer(optimizer),
            loss=loss,
            weighted_metrics=weighted_metrics,
            sampler=checked_sampler(sampler, self.backbone.config.vocabulary_size),
            jit_compile=default_jit_compile(jit_compile),
            **kwargs,
        )

    # ---- generation ----------------------------------------------------------------------------

    def generate(
        self,
        inputs: Any,
        max_length: int | None = None,
        stop_token_ids: Sequence[int] | str | None = "auto",
        strip_prompt: bool = False,
        max_new_tokens: int | None = None,
        seed: int | None = None,
        sliding_window: bool = False,
    ) -> Any:
        """Continue prompts.

        A prompt gets the same text alone and in a batch (where nothing is drawn at random). The
        computation is compiled once for each shape: prompts and lengths are rounded up to multiples
        of 16 for that.

        Args:
            inputs: a prompt, a list of prompts, or a dataset of batches of them; without a
                preprocessor a dict of `token_ids` and `padding_mask`, (batch, seq) int, padded to
                the length that is wanted.
            max_length: int, tokens of prompt and continuation together; None is the preprocessor's
                `sequence_length`.
            stop_token_ids: ids that end a text; "auto" is the tokenizer's end token, None never
                stops.
            strip_prompt: bool, return the continuations only.
            max_new_tokens: int, tokens of each continuation, instead of `max_length`.
            seed: int, from 0 to 2**32 - 1, begin the sampler's random numbers with it; None goes on
                with them.
            sliding_window: bool, go on past the context limit of the model: whenever it is reached,
                the second half of the text is read anew. False raises an error instead.

        Returns:
            str for a single prompt, a list of str for more; without a preprocessor a dict of
            `token_ids` and `padding_mask`, (batch, seq) int32 arrays.

        Raises:
            ValueError: for an empty prompt, one that leaves no room, a length past the limit, or a
                setting out of range.
            TypeError: for prompts that are no texts.
        """
        if seed is not None:
            seed_sampler(self.sampler, seed)
        request = Request(
            max_length=max_length,
            max_new_tokens=max_new_tokens,
            stop_token_ids=self._stop_token_ids(stop_token_ids),
            strip_prompt=strip_prompt,
            sliding_window=sliding_window,
        )
        return generate_rows(self, inputs, request)

    def stream(
        self,
        prompt: str,
        max_new_tokens: int = 64,
        stop_token_ids: Sequence[int] | str | None = "auto",
        seed: int | None = None,
    ) -> Iterator[str]:
        """Continue one prompt and yield the text piece by piece, as tokens are chosen.

        Args:
            prompt: the text to continue.
            max_new_tokens: int, the most tokens of the continuation.
            stop_token_ids: as in `generate`.
            seed: as in `generate`.

        Yields:
            str, whole characters.

        Raises:
            ValueError: if the sampler searches (beam, contrastive), the prompt is empty, prompt and
                continuation exceed the context limit, or a setting is out of range.
            TypeError: if the prompt is no text.
        """
        if not can_stream(self):
            raise ValueError(
                "This sampler compares whole texts, so nothing can be shown on the way; use "
                f"`generate`. Received: sampler={type(self.sampler).__name__}"
            )
        if self.preprocessor is None:
            raise ValueError("Text is shown with a tokenizer. Received: preprocessor=None")
        if seed is not None:
            seed_sampler(self.sampler, seed)
        request = Request(
            max_new_tokens=max_new_tokens, stop_token_ids=self._stop_token_ids(stop_token_ids)
        )
        (ids,) = self.preprocessor.prompt_ids([prompt])
        check_fits([ids], [len(ids) + max_new_tokens], self.backbone.config.max_sequence_length)
        return stream_texts(self, ids, max_new_tokens, request.stop_token_ids)

    def generate_step(
        self, inputs: dict[str, Tensor], stop_token_ids: Sequence[int] | None = None
    ) -> dict[str, Tensor]:
        """Generate on tensors alone, compiled as a whole.

        Args:
            inputs: `token_ids` and `padding_mask`, (batch, seq) int32, to be filled up to `seq`;
                perhaps `prompt_ids`, (batch, width) int32, the columns that are read at once, and
                `text_lengths`, (batch,) int32, where each row ends before `seq`.
            stop_token_ids: ids that end a text.

        Returns:
            `token_ids`, (batch, seq) int32, and `padding_mask`, (batch, seq) bool, which ends with
            the first stop token after the prompt.
        """
        token_ids, padding_mask = inputs[TOKEN_IDS], ops.cast(inputs[PADDING_MASK], "bool")
        slots = ops.shape(token_ids)[1]
        prompt_ids = inputs.get(PROMPT_IDS, token_ids)
        states, cache = self.backbone.read_prompt(prompt_ids, slots)
        room = slots - ops.shape(prompt_ids)[1]
        states = ops.pad(states, ((0, 0), (0, room), (0, 0)))
        index = ops.min(ops.sum(ops.cast(padding_mask, "int32"), axis=-1))
        every_slot = ops.arange(slots, dtype="int32")[None, None, None, :]
        if TEXT_LENGTHS in inputs:
            # What stands behind a text is given like its prompt: a search must not look at it.
            is_behind = every_slot[0, 0] >= inputs[TEXT_LENGTHS][:, None]
            padding_mask = ops.logical_or(padding_mask, is_behind)

        def next_token(prompt: Tensor, cache: Any, index: Tensor) -> tuple[Tensor, Tensor, Any]:
            slot = index - 1
            last = ops.take(prompt, ops.reshape(slot, (1,)), axis=1)
            states, cache = self.backbone.read_token(
                last,
                cache,
                slot,
                positions=ops.reshape(slot, (1,)),
                visible=every_slot <= slot,
            )
            states = ops.squeeze(states, axis=1)
            return self.backbone.next_token_logits(states), states, cache

        token_ids = self.sampler(
            next=next_token,
            prompt=token_ids,
            cache=cache,
            index=index,
            mask=padding_mask,
            stop_token_ids=stop_token_ids,
            hidden_states=states,
            model=self,
        )
        stops = ops.cast(new_stop_tokens(token_ids, padding_mask, stop_token_ids), "int32")
        is_before_end = ops.cumsum(stops, axis=-1) - stops == 0
        return {TOKEN_IDS: token_ids, PADDING_MASK: is_before_end}

    def make_generate_function(self) -> Any:
        """Return the compiled generation function; see `compile` for XLA on TensorFlow."""
        is_graph = keras.config.backend() == "tensorflow" and not self.run_eagerly
        if self.generate_function is None and is_graph:
            import tensorflow as tf

            self.generate_function = tf.function(
                self.generate_step, jit_compile=self._compiles_generation, autograph=False
            )
        return super().make_generate_function()

    # ---- export --------------------------------------------------------------------------------

    def serving_signatures(self) -> dict[str, ServingSignature]:
        """Return `serving_default` (text alone) and `generate` (text and settings, row by row)."""
        return causal_lm_signatures(self)

    # ---- inside --------------------------------------------------------------------------------

    def raw_columns(self, x: Any) -> dict[str, Any] | None:
        """Return texts in memory as a column; pairs are refused."""
        columns = super().raw_columns(x)
        if columns is not None and list(columns) != [TEXT]:
            raise ValueError(
                f"A causal language model reads single texts. Received: keys={sorted(columns)}"
            )
        return columns

    def _stop_token_ids(self, stop_token_ids: Sequence[int] | str | None) -> tuple[int, ...] | None:
        if isinstance(stop_token_ids, str) and stop_token_ids == "auto":
            has_end = self.preprocessor is not None
            end = self.preprocessor.tokenizer.end_token_id if has_end else None
            return None if end is None else (end,)
        return checked_stop_token_ids(stop_token_ids, self.backbone.config.vocabulary_size)
