"""Raw texts, or words, and their tags to the inputs of a `TokenClassifier`."""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from kerazoo.axes import TEXT, WORDS
from kerazoo.checks import check_positive
from kerazoo.metrics.entity_spans import OUTSIDE
from kerazoo.preprocessing.base import Preprocessor, labels_to_ids, texts_of
from kerazoo.preprocessing.packing import check_room
from kerazoo.preprocessing.tag_targets import TagTable, span_tags, tag_targets
from kerazoo.preprocessing.tagged_windows import SPECIALS, TaggedWindows, tagged_windows
from kerazoo.preprocessing.windows import check_stride
from kerazoo.tokenizers.base import Tokenizer

ENTITY_STARTS, ENTITY_ENDS, ENTITY_TYPES = "starts", "ends", "types"


@keras.saving.register_keras_serializable(package="kerazoo")
class TokenClassifierPreprocessor(Preprocessor):
    """Tokenise texts, pack them in windows, and give their tokens the tags of the words.

    BERT reads `[CLS] window [SEP]`, GPT `<s> window <e>`. Nothing is truncated: a long text is read
    in overlapping windows, each a row of its own.

    Args:
        tokenizer: a `kerazoo.tokenizers.base.Tokenizer`.
        sequence_length: int, the most positions of a row.
        labels: the tags in the order of the classes; the task sets them.
        stride: int, how many tokens after a window the next one begins; None is half of a window.
        label_all_pieces: bool, train all tokens of a word, the later ones as I-; False trains the
            first one.
        word_separator: str, what is put between given words; "" suits Chinese for tokenizers to
            which a space is part of a token.
        pad_to_multiple_of: int, pad each batch only to its longest row rounded up to a multiple of
            this; None pads to `sequence_length` (static shapes).
        **kwargs: `name` and the like of `keras.layers.Layer`.

    Call arguments:
        x: (batch,) string; or dict of "text", (batch,) string, or of "words", (batch, words)
            string, ragged.
        y: for words their tags, (batch, words) string or int, ragged; for texts a dict of "starts"
            and "ends", (batch, entities) int32, characters, half-open, in ascending order, and
            "types", (batch, entities) string, all ragged. Optional.
        sample_weight: (batch,) float, the weight of a text, optional.

    Returns:
        A dict of `token_ids`, `segment_ids`, `padding_mask`, each (windows, seq) int32; with `y` a
        tuple of it, (windows, seq) int32, 0 where there is no target, and (windows, seq) float32
        weights, 0 there and the text's weight elsewhere.

    Raises:
        ValueError: if the stride leaves gaps between the windows.
        tf.errors.InvalidArgumentError: for an unknown tag, or another number of tags than words.
    """

    def __init__(
        self,
        tokenizer: Tokenizer,
        sequence_length: int = 256,
        labels: Sequence[str] | None = None,
        stride: int | None = None,
        label_all_pieces: bool = False,
        word_separator: str = " ",
        pad_to_multiple_of: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Check and keep the arguments."""
        super().__init__(tokenizer, **kwargs)
        self.check_windows(sequence_length, stride)
        if pad_to_multiple_of is not None:
            check_positive("pad_to_multiple_of", pad_to_multiple_of)
        self.sequence_length = sequence_length
        self.labels = None if labels is None else list(labels)
        self.stride = stride
        self.label_all_pieces = label_all_pieces
        self.word_separator = word_separator
        self.pad_to_multiple_of = pad_to_multiple_of

    @staticmethod
    def check_windows(sequence_length: int, stride: int | None) -> None:
        """Raise ValueError if rows have no room for a text, or the windows leave gaps.

        Args:
            sequence_length: as for the class.
            stride: as for the class.
        """
        check_room(sequence_length, SPECIALS)
        if stride is not None:
            check_stride(stride, sequence_length - SPECIALS)

    def preprocess(self, x: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Preprocess a batch; see the class."""
        *windows, _ = self.windows(x, y, sample_weight, self.pad_to_multiple_of)
        return keras.utils.pack_x_y_sample_weight(*windows)

    def windows(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        pad_to_multiple_of: int | None = None,
    ) -> tuple[dict[str, tf.Tensor], tf.Tensor | None, tf.Tensor | None, tf.Tensor]:
        """Return features, targets and weights, None without `y`, as the class says.

        Behind them comes the text of each window, (windows,) int32.

        Args:
            x: as for the call.
            y: as for the call.
            sample_weight: as for the call.
            pad_to_multiple_of: as for the class.
        """
        read = self.read(x, pad_to_multiple_of)
        if y is None:
            return read.features, None, None, read.windows.document
        table = TagTable.of(self.labels or [])
        tags = self._span_tags(read, y, table) if isinstance(y, dict) else self._word_tags(read, y)
        targets, weights = tag_targets(read, tags, table, self.label_all_pieces)
        if sample_weight is not None:
            of_text = tf.cast(tf.convert_to_tensor(sample_weight), tf.float32)
            weights *= tf.gather(of_text, read.windows.document)[:, tf.newaxis]
        targets.set_shape(read.features["token_ids"].shape)
        weights.set_shape(read.features["token_ids"].shape)
        return read.features, targets, weights, read.windows.document

    def read(self, x: Any, pad_to_multiple_of: int | None) -> TaggedWindows:
        """Return packed rows, with what is needed to find words in them.

        Args:
            x: as for the call.
            pad_to_multiple_of: as for the class.
        """
        words = x.get(WORDS) if isinstance(x, dict) and set(x) == {WORDS} else None
        if words is not None and not isinstance(words, tf.RaggedTensor):
            words = tf.RaggedTensor.from_tensor(tf.convert_to_tensor(words))
        texts = None
        if words is None:
            (texts, *more) = texts_of(x)
            if more:
                raise ValueError(
                    f"Token classification reads {TEXT!r} or {WORDS!r}. Received: pairs of texts"
                )
        return tagged_windows(
            self.tokenizer,
            self.sequence_length,
            self.stride,
            texts,
            words,
            self.word_separator,
            pad_to_multiple_of,
        )

    def count_truncated(self, x: Any, batch_size: int = 1024) -> int:
        """Return 0: a long text goes on in the next window."""
        return 0

    def _word_tags(self, read: TaggedWindows, y: Any) -> tf.RaggedTensor:
        """Return the tags of given words, (texts, words) int32."""
        if not isinstance(y, tf.RaggedTensor):
            y = tf.RaggedTensor.from_tensor(tf.convert_to_tensor(y))
        words = read.words.starts
        check = tf.debugging.Assert(
            tf.reduce_all(words.row_lengths() == tf.cast(y.row_lengths(), tf.int64)),
            ["Every word needs a tag. Received: words, tags=", words.row_lengths()],
        )
        with tf.control_dependencies([] if check is None else [check]):
            return words.with_flat_values(labels_to_ids(y.flat_values, self.labels))

    def _span_tags(self, read: TaggedWindows, y: dict[str, Any], table: TagTable) -> Any:
        """Return the tags of the words of texts with entities in them, (texts, words) int32."""
        labels = self.labels or []
        starts, ends, types = (y[key] for key in (ENTITY_STARTS, ENTITY_ENDS, ENTITY_TYPES))
        number = labels_to_ids(types.flat_values, table.types)
        begins, insides = (
            [
                next((labels.index(tag) for tag in (f"{p}-{kind}", kind) if tag in labels), -1)
                for kind in table.types
            ]
            for p in "BI"
        )
        if -1 in (*begins, *insides) or OUTSIDE not in labels:
            raise ValueError(
                "Entities of texts need the tag O and for each type B- and I-. "
                f"Received: labels={labels}"
            )
        begin_tags, inside_tags = (
            types.with_flat_values(tf.gather(tf.constant(tags), number))
            for tags in (begins, insides)
        )
        return span_tags(read, starts, ends, begin_tags, inside_tags, labels.index(OUTSIDE))

    def get_config(self) -> dict[str, Any]:
        """Return the constructor's arguments."""
        return {
            **super().get_config(),
            "sequence_length": self.sequence_length,
            "labels": self.labels,
            "stride": self.stride,
            "label_all_pieces": self.label_all_pieces,
            "word_separator": self.word_separator,
            "pad_to_multiple_of": self.pad_to_multiple_of,
        }
