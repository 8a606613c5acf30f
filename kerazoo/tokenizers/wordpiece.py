"""The tokenizer of BERT."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import keras
import tensorflow as tf

from kerazoo.checks import check_positive
from kerazoo.tokenizers.base import Tokenizer
from kerazoo.tokenizers.token_ids import to_ragged_ids
from kerazoo.tokenizers.vocabulary_file import check_unique, read_vocabulary, write_vocabulary
from kerazoo.tokenizers.wordpiece_encoder import WordPieceEncoder

VOCABULARY_FILE = "vocabulary.txt"


@keras.saving.register_keras_serializable(package="kerazoo")
class WordPieceTokenizer(Tokenizer):
    """BERT's tokenizer: ids equal to Hugging Face's, with character offsets, in the graph.

    Text is cleaned, optionally lower-cased and stripped of accents, split into words at white
    space, punctuation and Han characters, and each word is cut into the longest entries of the
    vocabulary from left to right (Devlin et al., 2018, arXiv:1810.04805). The defaults are those
    of uncased BERT; cased BERT is `lowercase=False`.

    Args:
        vocabulary: list of str, or path of a file with one entry a line; it can also be given
            later with `set_vocabulary`.
        lowercase: bool, lower-case the text.
        strip_accents: bool, delete accents and other combining marks; None follows `lowercase`.
        split_on_cjk: bool, make each Han character a word of its own (Hugging Face's
            `tokenize_chinese_chars`).
        special_tokens_in_strings: bool, read "[MASK]" and the like in texts as one id; or a list
            of those to read so. Leave it off for texts that others wrote: they could place special
            tokens.
        oov_token: str, the entry for unknown words; also `unk_token`.
        cls_token: str, the entry at the start of an input.
        sep_token: str, the entry after each text.
        pad_token: str, the entry that fills up short inputs.
        mask_token: str, the entry for masked tokens.
        max_characters_per_word: int, longer words are unknown.
        split_unknown: bool, split symbols and emoji off the word they touch if the vocabulary
            cannot continue a word with them, so that the word itself stays known.
        map_quotes: bool, read curly quotes and the ellipsis as ASCII (Chinese vocabularies lack
            them).
        **kwargs: `name`, `dtype`, `trainable` and `config_file`, as in KerasHub.

    Example:
        >>> specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        >>> tokenizer = WordPieceTokenizer([*specials, "play", "##ed"])
        >>> ids, starts, ends = tokenizer.tokenize_with_offsets(["Played?"])
        >>> ids.to_list(), starts.to_list(), ends.to_list()
        ([[5, 6, 1]], [[0, 4, 6]], [[4, 6, 7]])
    """

    def __init__(
        self,
        vocabulary: str | Path | Iterable[str] | None = None,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        split_on_cjk: bool = True,
        special_tokens_in_strings: bool | Sequence[str] = False,
        oov_token: str = "[UNK]",
        cls_token: str = "[CLS]",
        sep_token: str = "[SEP]",
        pad_token: str = "[PAD]",
        mask_token: str = "[MASK]",
        max_characters_per_word: int = 100,
        split_unknown: bool = False,
        map_quotes: bool = False,
        **kwargs: Any,
    ) -> None:
        """Store the options and compile the vocabulary, if there is one."""
        super().__init__(**kwargs)
        check_positive("max_characters_per_word", max_characters_per_word)
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.split_on_cjk = split_on_cjk
        self.special_tokens_in_strings = special_tokens_in_strings
        self.max_characters_per_word = max_characters_per_word
        self.split_unknown = split_unknown
        self.map_quotes = map_quotes
        self.file_assets = [VOCABULARY_FILE]
        self._encoder: WordPieceEncoder | None = None
        self.oov_token = oov_token
        self._add_special_token(oov_token, "unk_token")
        self._add_special_token(cls_token, "cls_token")
        self._add_special_token(sep_token, "sep_token")
        self._add_special_token(pad_token, "pad_token")
        self._add_special_token(mask_token, "mask_token")
        if vocabulary is not None:
            self.set_vocabulary(vocabulary)

    @property
    def has_vocabulary(self) -> bool:
        """Whether a vocabulary was given; one read from a `.keras` file gets its own last."""
        return self._encoder is not None

    @property
    def template_token_ids(self) -> tuple[int, int, int, int]:
        """The ids of [CLS], [SEP], [SEP] and [PAD]: start, separator, end and padding of a row."""
        self._ready()
        return self.cls_token_id, self.sep_token_id, self.sep_token_id, self.pad_token_id

    def set_vocabulary(self, vocabulary: str | Path | Iterable[str]) -> None:
        """Give the tokenizer its vocabulary, or another one.

        Args:
            vocabulary: the entries in id order, or the path of a file with one entry a line.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if it is empty, holds an entry twice or lacks a special token.
        """
        if isinstance(vocabulary, (str, Path)):
            source, entries = str(vocabulary), read_vocabulary(vocabulary)
        else:
            source, entries = "a list", list(vocabulary)
            check_unique(entries, source)
        special_tokens = self.special_tokens
        missing = [token for token in special_tokens if token not in entries]
        if missing:
            raise ValueError(
                f"The vocabulary of {len(entries)} entries lacks the special tokens "
                f"{', '.join(missing)}. Add them, or name the entries that the vocabulary has in "
                "their place (oov_token, cls_token, sep_token, pad_token, mask_token). "
                f"Received: vocabulary={source!r}"
            )
        self._encoder = WordPieceEncoder(
            entries,
            unknown_token=self.oov_token,
            lowercase=self.lowercase,
            strip_accents=self.lowercase if self.strip_accents is None else self.strip_accents,
            split_on_cjk=self.split_on_cjk,
            special_tokens=self._special_tokens_in_strings(),
            max_characters_per_word=self.max_characters_per_word,
            split_unknown=self.split_unknown,
            map_quotes=self.map_quotes,
        )
        self._update_special_token_ids()

    def tokenize_rows(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return ids of texts, (batch,) string -> (batch, tokens) int32; any bytes will do."""
        return self._ready().encode(texts)

    def tokenize_rows_with_offsets(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids, starts and ends of texts in any bytes, each (batch, tokens) int32."""
        return self._ready().encode_with_offsets(texts)

    def tokenize_with_word_starts(self, texts: Any, segmented: bool = False) -> tuple[Any, Any]:
        """Turn texts into ids and say which of them start a word: what whole-word masking needs.

        A piece starts a word unless it touches the piece before, without white space, and neither
        of the two is punctuation or a Han character. This costs far less than offsets.

        Args:
            texts: as in `tokenize`.
            segmented: bool, whether spaces set all words of the texts apart, as a segmenter for
                Chinese writes them: Han characters that touch are then one word.

        Returns:
            (ids, word_starts): the ids of `tokenize`, and bools of the same shape.
        """
        encoder = self._ready()
        return self._apply(lambda rows: encoder.encode_with_word_starts(rows, segmented), texts)

    def detokenize(self, ids: Any) -> tf.Tensor:
        """Join tokens to a text, for display only.

        Pieces are joined to their word, words with a space, Han characters without. Case, accents
        and spacing of the original are lost: cut answers and entities out of the original text
        with the offsets of `tokenize_with_offsets` instead.

        Args:
            ids: (tokens,) or (batch, tokens) ints: list, array, or dense or ragged tensor.

        Returns:
            A string tensor, () or (batch,).
        """
        encoder = self._ready()
        with tf.device("CPU:0"):
            ids, is_single = to_ragged_ids(ids, self.vocabulary_size())
            texts = encoder.decode(ids)
            return texts[0] if is_single else texts

    def get_vocabulary(self) -> list[str]:
        """Return the entries in id order."""
        return list(self._ready().vocabulary)

    def vocabulary_size(self) -> int:
        """Return the number of entries."""
        return len(self._ready().vocabulary)

    def id_to_token(self, id: int) -> str:
        """Return the entry with this id; ValueError if there is none."""
        vocabulary = self._ready().vocabulary
        if not 0 <= id < len(vocabulary):
            raise ValueError(f"Ids are 0 to {len(vocabulary) - 1}. Received: id={id!r}")
        return vocabulary[id]

    def token_to_id(self, token: str) -> int:
        """Return the id of an entry; ValueError if there is none."""
        ids = self._ready().ids
        if token not in ids:
            raise ValueError(f"The vocabulary has no such entry. Received: token={token!r}")
        return ids[token]

    def get_config(self) -> dict[str, Any]:
        """Return every option but the vocabulary, which is saved as a file beside it."""
        return {
            **super().get_config(),
            "vocabulary": None,
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
            "split_on_cjk": self.split_on_cjk,
            "special_tokens_in_strings": self.special_tokens_in_strings,
            "oov_token": self.oov_token,
            "cls_token": self.cls_token,
            "sep_token": self.sep_token,
            "pad_token": self.pad_token,
            "mask_token": self.mask_token,
            "max_characters_per_word": self.max_characters_per_word,
            "split_unknown": self.split_unknown,
            "map_quotes": self.map_quotes,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create a tokenizer from `get_config`; a configuration cannot name a file to read."""
        vocabulary = config.get("vocabulary")
        if isinstance(vocabulary, (str, Path)):
            raise ValueError(
                "A saved configuration must not name a vocabulary file, as loading it would read "
                "any file it likes. Create the tokenizer with the constructor instead. "
                f"Received: vocabulary={str(vocabulary)!r}"
            )
        return super().from_config(config)

    def save_assets(self, dir_path: str | Path) -> None:
        """Write the vocabulary to `vocabulary.txt` in a folder."""
        write_vocabulary(Path(dir_path) / VOCABULARY_FILE, self._ready().vocabulary)

    def load_assets(self, dir_path: str | Path) -> None:
        """Read the vocabulary from `vocabulary.txt` in a folder."""
        self.set_vocabulary(Path(dir_path) / VOCABULARY_FILE)

    def _special_tokens_in_strings(self) -> list[str]:
        chosen = self.special_tokens_in_strings
        if isinstance(chosen, bool):
            return self.special_tokens if chosen else []
        unknown = [token for token in chosen if token not in self.special_tokens]
        if isinstance(chosen, str) or unknown:
            raise ValueError(
                "`special_tokens_in_strings` is True, False or a list of special tokens: "
                f"{', '.join(self.special_tokens)}. Received: special_tokens_in_strings={chosen!r}"
            )
        return list(chosen)

    def _ready(self) -> WordPieceEncoder:
        if self._encoder is None:
            raise ValueError(
                "The tokenizer has no vocabulary. Pass `vocabulary=` or call `set_vocabulary`. "
                f"Received: {type(self).__name__} {self.name!r}"
            )
        return self._encoder
