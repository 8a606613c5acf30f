"""BERT's text normalisation as TensorFlow graph operations, equal to Hugging Face's."""

import tensorflow as tf
import tensorflow_text as tf_text

from kerazoo.tokenizers.texts import valid_utf8

# Deleted: the replacement character and every control, format and private-use character; tab,
# newline and carriage return stay, as they are white space.
_DELETED = (
    r"[\x{fffd}\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x{9f}\p{Cf}"
    r"\x{e000}-\x{f8ff}\x{f0000}-\x{ffffd}\x{100000}-\x{10ffef}"
)
_PLAIN = r"[\t\n\r -~]*"
_RESERVED = r"\x{10fff0}-\x{10fffd}"

# ICU lower-cases by the locale of the machine (Turkish dotless i, Lithuanian dots) and by context
# (final sigma). Lower-casing these first makes the rest the same everywhere and for every position.
_LOWER_FIRST = (("Σ", "σ"),)
_LOWER_FIRST_WITH_ACCENTS = (
    ("İ", "i\u0307"),
    ("Ì", "ì"),
    ("Í", "í"),
    ("Ĩ", "ĩ"),
    ("Į", "į"),
)
_QUOTES = (("[‘’‚‛]", "'"), ("[“”„‟]", '"'), ("…", "..."))


class BertNormalizer:
    """Cleans text and, by option, strips accents and lower-cases it.

    The steps are those of Hugging Face's `BertNormalizer`, in its order: delete control
    characters; decompose (NFD) and delete combining marks; lower-case. Each character is mapped on
    its own, whatever stands beside it, so that `normalizer(a + b)` is `normalizer(a) +
    normalizer(b)` in length: character offsets rest on that.

    Args:
        lowercase: bool, lower-case the text.
        strip_accents: bool, delete combining marks after canonical decomposition.
        map_quotes: bool, write curly quotes and the ellipsis in ASCII.
        keep_reserved: bool, keep the last 14 private-use characters (see `text_marks`).
    """

    def __init__(
        self, lowercase: bool, strip_accents: bool, map_quotes: bool, keep_reserved: bool
    ) -> None:
        """Choose the steps."""
        self._lowercase = lowercase
        self._strip_accents = strip_accents
        self._map_quotes = map_quotes
        self._deleted = _DELETED + ("]" if keep_reserved else _RESERVED + "]")

    def __call__(self, texts: tf.Tensor, is_plain: tf.Tensor | None = None) -> tf.Tensor:
        """Return the normalised texts.

        Args:
            texts: any shape, string; invalid bytes are deleted, as U+FFFD is.
            is_plain: bool in the same shape, as `plain_texts.are_plain` says it; None if nobody
                looked.

        Returns:
            A string tensor of the same shape.
        """
        # Of a text of plain ASCII only the case can change; looking for others is cheap.
        flat = tf.reshape(texts, [-1])
        if is_plain is None:
            is_plain = tf.strings.regex_full_match(flat, _PLAIN)
        others = tf.where(~tf.reshape(is_plain, [-1]))
        plain = tf.strings.lower(flat) if self._lowercase else flat
        normalized = self._normalize(valid_utf8(tf.gather_nd(flat, others)))
        flat = tf.tensor_scatter_nd_update(plain, others, normalized)
        return tf.ensure_shape(tf.reshape(flat, tf.shape(texts)), texts.shape)

    def _normalize(self, texts: tf.Tensor) -> tf.Tensor:
        texts = tf.strings.regex_replace(texts, self._deleted, "")
        if self._map_quotes:
            for pattern, ascii_form in _QUOTES:
                texts = tf.strings.regex_replace(texts, pattern, ascii_form)
        if self._strip_accents:
            texts = tf_text.normalize_utf8(texts, "NFD")
            texts = tf.strings.regex_replace(texts, r"\p{Mn}", "")
        if self._lowercase:
            texts = self._lower(texts)
        return texts

    def _lower(self, texts: tf.Tensor) -> tf.Tensor:
        first = _LOWER_FIRST if self._strip_accents else _LOWER_FIRST + _LOWER_FIRST_WITH_ACCENTS
        for capital, small in first:
            texts = tf.strings.regex_replace(texts, capital, small)
        texts = tf.strings.lower(texts)  # ASCII only, in every locale
        return tf.strings.lower(texts, encoding="utf-8")
