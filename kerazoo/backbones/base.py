"""What every kerazoo backbone can do, whatever its family."""

import dataclasses
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import keras_nlp
from keras import ops

from kerazoo.axes import ID_DTYPE, PADDING_MASK, Tensor
from kerazoo.backbones.registry import BACKBONES
from kerazoo.backbones.sizes import named_size
from kerazoo.conversion.json_file import read_json_object
from kerazoo.conversion.new_folder import updated_folder
from kerazoo.conversion.preset_weights import check_preset_weights
from kerazoo.conversion.report import LoadReport
from kerazoo.conversion.source import CheckpointSource, open_checkpoint
from kerazoo.layers.packed_rows import positions_in_texts, same_text

RunBlock: TypeAlias = Callable[..., Any]
"""Takes `call_block` or `attention_of_block`, a layer, states and padding mask; returns what the
function returns for them."""


def call_block(layer: Any, hidden_states: Tensor, padding_mask: Tensor) -> tuple[Tensor, Tensor]:
    """Return the states after a block and its attention, without dropout.

    Args:
        layer: a `TransformerBlock`.
        hidden_states: (batch, seq, hidden) float.
        padding_mask: (batch, seq) int32 or bool, 1 on real tokens.

    Returns:
        (batch, seq, hidden) float, and the probabilities, (batch, heads, query, key) float32.
    """
    states, probabilities = layer(
        hidden_states, padding_mask=padding_mask, training=False, return_attention_scores=True
    )
    return states, probabilities


def attention_of_block(layer: Any, hidden_states: Tensor, padding_mask: Tensor) -> Tensor:
    """Return the attention of a block alone; arguments and result are those of `call_block`."""
    query, key, _ = layer.attention.project(layer.attention_input(hidden_states))
    visible = layer.attention.visible(ops.shape(hidden_states)[1], padding_mask)
    return layer.attention.probabilities(query, key, visible)


def run_at_once(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function gives; the plain `RunBlock`."""
    return function(*arguments)


class Backbone(keras_nlp.models.Backbone):
    """A transformer encoder or decoder without a head.

    Subclasses set `config_class` (a frozen dataclass of every number) and `family`, create
    `embeddings` and `transformer_layers`, and define `embed` and `outputs_of`.

    Attributes:
        reads_packed_rows: bool, whether a row may hold several texts, which then know nothing of
            each other: `padding_mask` holds the number of the text of each token, 1, 2, … and 0 on
            padding; attention stays within a text, and positions begin anew in each. The outputs of
            a text are those that it has alone, but for `pooled_output`, of which a row has one.
            Not a part of the config: it is switched on for a time, as `packed_rows` of the
            tasks does.
        config: the dataclass this backbone was made from.
        load_report: what was loaded from a foreign checkpoint; None for a fresh backbone and for
            one read from a kerazoo preset (where every weight is present or loading fails).
    """

    config_class: ClassVar[type]
    family: ClassVar[str]
    load_report: LoadReport | None = None
    reads_packed_rows: bool = False

    @property
    def rematerialize(self) -> bool:
        """Whether training computes the inside of blocks twice, to keep less in memory."""
        return any(layer.rematerialize for layer in self.transformer_layers)

    @rematerialize.setter
    def rematerialize(self, value: bool) -> None:
        for layer in self.transformer_layers:
            layer.rematerialize = value

    def embed(
        self,
        inputs: dict[str, Tensor],
        positions: Tensor | None = None,
        training: bool | None = None,
    ) -> Tensor:
        """Return the embedding output, (batch, seq, hidden).

        Args:
            inputs: the backbone's input dict, each (batch, seq) int32.
            positions: (batch, seq) int32, the place of each token; None counts from 0.
            training: bool, apply dropout.
        """
        raise TypeError(f"{type(self).__name__} does not define `embed`.")

    def outputs_of(self, hidden_states: Tensor, padding_mask: Tensor) -> dict[str, Tensor]:
        """Return the outputs, given the states after the last block.

        Args:
            hidden_states: (batch, seq, hidden) float.
            padding_mask: (batch, seq) int32 or bool, 1 on real tokens.
        """
        raise TypeError(f"{type(self).__name__} does not define `outputs_of`.")

    def call(
        self, inputs: dict[str, Tensor], training: bool | None = None, mask: Any = None
    ) -> dict[str, Tensor]:
        """Encode; a frozen backbone extracts features, so it runs without dropout."""
        training = False if not self.trainable else training
        if self.reads_packed_rows:
            return self._call_on_packed_rows(inputs, training)
        return super().call(inputs, training=training, mask=mask)

    def _call_on_packed_rows(
        self, inputs: dict[str, Tensor], training: bool | None
    ) -> dict[str, Tensor]:
        inputs = _as_tensors(inputs)
        is_same_text = same_text(inputs[PADDING_MASK])
        positions = positions_in_texts(is_same_text)
        states = self.embed(inputs, positions=positions, training=training)
        causal = self.transformer_layers[0].attention.visible(ops.shape(positions)[1])
        visible = is_same_text if causal is None else ops.logical_and(is_same_text, causal)
        for layer in self.transformer_layers:
            states = layer(states, training=training, visible=visible)
        return self.outputs_of(states, inputs[PADDING_MASK] > 0)

    def hidden_states(
        self, inputs: dict[str, Tensor], run_block: RunBlock = run_at_once
    ) -> list[Tensor]:
        """Return the states after the embeddings and after each layer, without dropout.

        The last one is `sequence_output`.

        Args:
            inputs: the backbone's input dict, each (batch, seq) int32.
            run_block: what runs the function that computes a layer.

        Returns:
            `num_layers + 1` tensors, (batch, seq, hidden); the embedding output is state 0.
        """
        inputs = _as_tensors(inputs)
        states = [self.embed(inputs)]
        for layer in self.transformer_layers:
            states.append(run_block(call_block, layer, states[-1], inputs[PADDING_MASK])[0])
        return states

    def attention_scores(
        self, inputs: dict[str, Tensor], layers: Sequence[int] | None = None
    ) -> list[Tensor]:
        """Return the attention probabilities, without dropout.

        Args:
            inputs: the backbone's input dict, each (batch, seq) int32.
            layers: layer numbers from 0, negative ones from the end; None is all of them.

        Returns:
            For each asked layer (batch, heads, query, key) float32; rows sum to 1.

        Raises:
            ValueError: if a layer does not exist.
        """
        count = len(self.transformer_layers)
        wanted = list(range(count)) if layers is None else list(layers)
        for number in wanted:
            if not -count <= number < count:
                raise ValueError(
                    f"The backbone has layers 0 to {count - 1}. Received: layers={wanted}"
                )
        wanted = [number % count for number in wanted]
        deepest = max(wanted, default=-1) + 1
        by_layer = enumerate(islice(self.attention_by_layer(inputs), deepest))
        scores = {number: layer for number, layer in by_layer if number in wanted}
        return [scores[number] for number in wanted]

    def attention_by_layer(
        self, inputs: dict[str, Tensor], run_block: RunBlock = run_at_once
    ) -> Iterator[Tensor]:
        """Yield the attention probabilities of each layer, without dropout.

        A layer is computed when it is asked for, so that one is in memory at a time.

        Args:
            inputs: the backbone's input dict, each (batch, seq) int32.
            run_block: what runs the function that computes a layer.

        Yields:
            (batch, heads, query, key) float32; rows sum to 1.
        """
        inputs = _as_tensors(inputs)
        state, padding_mask = self.embed(inputs), inputs[PADDING_MASK]
        *earlier, last = self.transformer_layers
        for layer in earlier:
            state, scores = run_block(call_block, layer, state, padding_mask)
            yield scores
            del scores
        yield run_block(attention_of_block, last, state, padding_mask)

    def get_config(self) -> dict[str, Any]:
        """Return the config's fields beside name, dtype and trainable."""
        return {**super().get_config(), **dataclasses.asdict(self.config)}

    def save_to_preset(self, preset_dir: str | Path, max_shard_size: float = 10) -> None:
        """Write a preset folder; an earlier preset there is replaced when this one is whole.

        Args:
            preset_dir: the folder; other files in it stay.
            max_shard_size: float, GB of weights in one file.
        """
        with updated_folder(preset_dir) as folder:
            super().save_to_preset(str(folder), max_shard_size=max_shard_size)

    def quantize(self, mode: str, **kwargs: Any) -> None:
        """Quantise the weights of dense layers and embeddings in place.

        Args:
            mode: "int8" or another mode of `keras.Model.quantize`.
            **kwargs: further arguments of it.
        """
        with warnings.catch_warnings():
            # Keras warns of each dropout and layer norm, which have nothing to quantise.
            warnings.filterwarnings("ignore", message="Layer .* does not have a `quantize` method")
            super().quantize(mode, **kwargs)

    @classmethod
    def from_size(cls, size: str, **kwargs: Any) -> Self:
        """Create a randomly initialised backbone of a named size.

        Args:
            size: a key of `kerazoo.backbones.sizes.SIZES[family]`, for example "mini" of BERT.
            **kwargs: constructor arguments that win over the size's.

        Raises:
            ValueError: for an unknown size.
        """
        return cls(**{**named_size(cls.family, size), **kwargs})

    @classmethod
    def from_preset(
        cls, preset: str | Path | CheckpointSource, load_weights: bool = True, **kwargs: Any
    ) -> Self:
        """Read a backbone from disk or from the Hugging Face Hub.

        Args:
            preset: a kerazoo preset folder, a Hugging Face folder, for BERT a folder with Google's
                TF1 checkpoint, or a handle `hf://org/name`.
            load_weights: bool, read the weights; False keeps the random ones.
            **kwargs: `dtype`, `name`, `trainable`, or config fields that win over the preset's.

        Returns:
            The backbone; `load_report` says what was loaded, missing and unused.

        Raises:
            FileNotFoundError: if the folder or a file of it does not exist.
            ValueError: if it is no checkpoint of this family, is damaged, or lacks a weight.
        """
        source = open_checkpoint(preset)
        if source.family != cls.family:
            raise ValueError(
                f"{source.folder} holds a model of another family; {cls.__name__} reads "
                f"{cls.family!r}. {_reader_of(source.family)}Received: family={source.family!r}"
            )
        if source.format == "kerazoo":
            if load_weights:
                check_preset_weights(source.folder)
            kwargs.setdefault("dtype", quantized_dtype(source.folder))
            return super().from_preset(str(source.folder), load_weights=load_weights, **kwargs)
        backbone = cls(**{**source.backbone_config(), **kwargs})
        if load_weights:
            backbone.load_report = source.load_backbone(backbone)
        return backbone

    def export_to_transformers(self, path: str | Path) -> None:
        """Write a Hugging Face folder with config and weights that `transformers` loads.

        Args:
            path: folder to create; it must not hold another model.
        """
        from kerazoo.conversion.huggingface import save_huggingface

        save_huggingface(self, self.config, path, family=self.family)


def quantized_dtype(folder: Path) -> dict[str, Any] | None:
    """Return the serialised dtype of a preset whose weights are quantised, else None.

    KerasHub's loader forgets it for a backbone and then cannot place the int8 weights.
    """
    config = read_json_object(folder / "config.json")
    dtype = config["config"].get("dtype")
    is_map = isinstance(dtype, dict) and dtype.get("class_name") == "DTypePolicyMap"
    return dtype if is_map else None


def _reader_of(family: str) -> str:
    """Say which class reads a family; nothing if none of kerazoo's does."""
    if family not in BACKBONES:
        return ""
    return f"Read it with kerazoo.{BACKBONES[family][1]}.from_preset. "


def _as_tensors(inputs: dict[str, Tensor]) -> dict[str, Tensor]:
    return {key: ops.convert_to_tensor(value, dtype=ID_DTYPE) for key, value in inputs.items()}
