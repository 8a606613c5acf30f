"""What the byte-pair tokenizers of GPT-1 and GPT-2 share."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, cast

import tensorflow as tf

from kerazoo.tokenizers.base import Tokenizer
from kerazoo.tokenizers.bpe_vocabulary import MERGES_FILE, VOCABULARY_FILE, BPEVocabulary, Merge
from kerazoo.tokenizers.texts import valid_utf8
from kerazoo.tokenizers.token_ids import to_ragged_ids

# Names and tokens of the ids that fine-tuning adds after the vocabulary's.
_TASK_TOKENS = {
    "text_start_token": "<s>",
    "delimiter_token": "$",
    "extract_token": "<e>",
}


class BPEEncoder(Protocol):
    """From texts to ids and back."""

    def encode(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return the ids of texts, (batch,) string, as (batch, tokens) int32."""

    def encode_with_offsets(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids and half-open character offsets, each (batch, tokens) int32."""

    def decode(self, ids: tf.RaggedTensor) -> tf.Tensor:
        """Return the texts of ids, (batch, tokens) int32, as (batch,) string."""


class BPETokenizer(Tokenizer):
    """A tokenizer with a vocabulary and merges.

    Subclasses say with `make_encoder` how texts become ids, and name their special tokens.

    Args:
        vocabulary: dict of entries and ids, or the path of a JSON file with such an object.
        merges: list of "left right" or (left, right) in order of rank, or the path of a file with
            one a line. Both can also be given later with `set_vocabulary_and_merges`.
        special_tokens: what each special token of the vocabulary is called, such as
            {"end_token": "<|endoftext|>"}; None for what the tokenizer does not have. A
            "start_token" of None is the "end_token".
        special_tokens_in_strings: bool, read special tokens in texts as one id.
        task_tokens: bool, have three more ids after the vocabulary's, for fine-tuning.
        **kwargs: `name`, `dtype`, `trainable` and `config_file`, as in KerasHub.
    """

    def __init__(
        self,
        vocabulary: str | Path | Mapping[str, int] | None,
        merges: str | Path | Iterable[str | Sequence[str]] | None,
        special_tokens: Mapping[str, str | None],
        special_tokens_in_strings: bool,
        task_tokens: bool,
        **kwargs: Any,
    ) -> None:
        """Store the options and compile vocabulary and merges, if there are any."""
        super().__init__(**kwargs)
        self.special_tokens_in_strings = special_tokens_in_strings
        self.task_tokens = task_tokens
        self.file_assets = [VOCABULARY_FILE, MERGES_FILE]
        self._encoder: BPEEncoder | None = None
        # In an object of its own: Keras would wrap lists and dicts, which takes seconds.
        self._vocabulary: BPEVocabulary | None = None
        self._special_token_attrs: list[str] = []
        if special_tokens.get("start_token") is None:
            special_tokens = {**special_tokens, "start_token": special_tokens.get("end_token")}
        self._configured_tokens = tuple(special_tokens)
        named = {**special_tokens, **(_TASK_TOKENS if task_tokens else {})}
        for name in (*special_tokens, *_TASK_TOKENS):
            token = named.get(name)
            setattr(self, name, token)
            setattr(self, f"{name}_id", None)
            if token is not None:
                self._special_token_attrs.append(name)
        if (vocabulary is None) != (merges is None):
            raise ValueError(
                "A vocabulary and its merges belong together: pass both or none. "
                f"Received: vocabulary={_short(vocabulary)}, merges={_short(merges)}"
            )
        if vocabulary is not None and merges is not None:
            self.set_vocabulary_and_merges(vocabulary, merges)

    def make_encoder(
        self,
        vocabulary: BPEVocabulary,
        special_tokens: Mapping[str, int],
        task_tokens: Sequence[str],
    ) -> BPEEncoder:
        """Return what turns texts into ids.

        Args:
            vocabulary: entries and merges.
            special_tokens: the tokens to recognise in texts, and their ids.
            task_tokens: tokens that stand after the entries and that no text gives.
        """
        raise TypeError(f"{type(self).__name__} does not define `make_encoder`.")

    @property
    def has_vocabulary(self) -> bool:
        """Whether vocabulary and merges were given; from a `.keras` file they come last."""
        return self._vocabulary is not None

    @property
    def template_token_ids(self) -> tuple[int, int, int, int]:
        """The ids of text start, delimiter, extract token and padding of a packed row."""
        if not self.task_tokens:
            raise ValueError(
                "Fine-tuning needs the tokens <s>, $ and <e>, which this tokenizer does not have. "
                "Take `tokenizer.with_task_tokens()`, and a backbone with three more tokens. "
                f"Received: {type(self).__name__} with task_tokens=False"
            )
        self._ready()
        return (
            self.text_start_token_id,
            self.delimiter_token_id,
            self.extract_token_id,
            self.pad_token_id,
        )

    def with_task_tokens(self) -> Self:
        """Return an equal tokenizer that has task tokens: this one, if it has them."""
        if self.task_tokens:
            return self
        tokenizer = type(self).from_config({**self.get_config(), "task_tokens": True})
        if self.has_vocabulary:
            vocabulary = self._ready()
            tokenizer.set_vocabulary_and_merges(vocabulary.ids, vocabulary.merges)
        return tokenizer

    def set_vocabulary_and_merges(
        self,
        vocabulary: str | Path | Mapping[str, int],
        merges: str | Path | Iterable[str | Sequence[str]],
    ) -> None:
        """Give the tokenizer vocabulary and merges, or others.

        Args:
            vocabulary: dict of entries and ids, or the path of a JSON file with such an object.
            merges: "left right" or (left, right) in order of rank, or the path of a file of lines.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if a file is damaged, the ids have a gap, a special token is missing, or the
                merges need entries that the vocabulary lacks.
        """
        compiled = BPEVocabulary(vocabulary, merges)
        special_ids = self._find_special_tokens(compiled.ids)
        recognised = {}
        if self.special_tokens_in_strings:
            names = [name for name in self._special_token_attrs if name not in _TASK_TOKENS]
            recognised = {getattr(self, name): special_ids[name] for name in names}
        task_tokens = tuple(_TASK_TOKENS.values()) if self.task_tokens else ()
        self._encoder = self.make_encoder(compiled, recognised, task_tokens)
        self._vocabulary = compiled
        for name, number in special_ids.items():
            setattr(self, f"{name}_id", number)

    def tokenize_rows(self, texts: tf.Tensor) -> tf.RaggedTensor:
        """Return ids of texts, (batch,) string -> (batch, tokens) int32; any bytes will do."""
        return self._ready_encoder().encode(valid_utf8(texts))

    def tokenize_rows_with_offsets(
        self, texts: tf.Tensor
    ) -> tuple[tf.RaggedTensor, tf.RaggedTensor, tf.RaggedTensor]:
        """Return ids, starts and ends of texts in any bytes, each (batch, tokens) int32."""
        return self._ready_encoder().encode_with_offsets(valid_utf8(texts))

    def detokenize(self, ids: Any) -> tf.Tensor:
        """Join tokens to a text; special tokens are shown as they are written.

        Args:
            ids: (tokens,) or (batch, tokens) ints: list, array, or dense or ragged tensor.

        Returns:
            A string tensor, () or (batch,).
        """
        encoder = self._ready_encoder()
        with tf.device("CPU:0"):
            ids, is_single = to_ragged_ids(ids, self.vocabulary_size())
            texts = encoder.decode(ids)
            return texts[0] if is_single else texts

    def get_vocabulary(self) -> list[str]:
        """Return the entries in id order, task tokens last."""
        return [*self._ready().entries, *(_TASK_TOKENS.values() if self.task_tokens else ())]

    def get_merges(self) -> list[Merge]:
        """Return (left, right) of each merge in order of rank."""
        return list(self._ready().merges)

    def vocabulary_size(self) -> int:
        """Return the number of entries, task tokens included."""
        return len(self._ready().entries) + (len(_TASK_TOKENS) if self.task_tokens else 0)

    def id_to_token(self, id: int) -> str:
        """Return the entry with this id; ValueError if there is none."""
        if not 0 <= id < self.vocabulary_size():
            raise ValueError(f"Ids are 0 to {self.vocabulary_size() - 1}. Received: id={id!r}")
        entries = self._ready().entries
        return entries[id] if id < len(entries) else self.get_vocabulary()[id]

    def token_to_id(self, token: str) -> int:
        """Return the id of an entry of the vocabulary; ValueError if there is none.

        Task tokens are not found, as they look like ordinary text: use `text_start_token_id`,
        `delimiter_token_id` and `extract_token_id`.
        """
        ids = self._ready().ids
        if token not in ids:
            raise ValueError(f"The vocabulary has no such entry. Received: token={token!r}")
        return ids[token]

    def get_config(self) -> dict[str, Any]:
        """Return every option but vocabulary and merges, which are saved as files beside it."""
        return {
            **super().get_config(),
            "vocabulary": None,
            "merges": None,
            "special_tokens_in_strings": self.special_tokens_in_strings,
            "task_tokens": self.task_tokens,
            **{name: getattr(self, name) for name in self._configured_tokens},
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Create a tokenizer from `get_config`; a configuration cannot name a file to read."""
        for name in ("vocabulary", "merges"):
            if isinstance(config.get(name), (str, Path)):
                raise ValueError(
                    "A saved configuration must not name a file of vocabulary or merges, as "
                    "loading it would read any file it likes. Create the tokenizer with the "
                    f"constructor instead. Received: {name}={str(config[name])!r}"
                )
        return super().from_config(config)

    def save_assets(self, dir_path: str | Path) -> None:
        """Write `vocabulary.json` and `merges.txt` into a folder."""
        self._ready().write(dir_path)

    def load_assets(self, dir_path: str | Path) -> None:
        """Read `vocabulary.json` and `merges.txt` from a folder."""
        folder = Path(dir_path)
        self.set_vocabulary_and_merges(folder / VOCABULARY_FILE, folder / MERGES_FILE)

    def _find_special_tokens(self, ids: Mapping[str, int]) -> dict[str, int]:
        """Return the id of each special token by its name."""
        own = [name for name in self._special_token_attrs if name not in _TASK_TOKENS]
        missing = [name for name in own if getattr(self, name) not in ids]
        if missing:
            received = ", ".join(f"{name}={getattr(self, name)!r}" for name in missing)
            raise ValueError(
                f"The vocabulary of {len(ids)} entries lacks a special token. Add it, or name the "
                f"entry that plays its part (None for none). Received: {received}"
            )
        found = {name: ids[getattr(self, name)] for name in own}
        if self.task_tokens:
            found |= {name: len(ids) + number for number, name in enumerate(_TASK_TOKENS)}
        found.setdefault("pad_token", found.get("end_token", 0))
        return found

    def _ready(self) -> BPEVocabulary:
        if self._vocabulary is None:
            raise ValueError(
                "The tokenizer has no vocabulary. Pass `vocabulary=` and `merges=` or call "
                f"`set_vocabulary_and_merges`. Received: {type(self).__name__} {self.name!r}"
            )
        return self._vocabulary

    def _ready_encoder(self) -> BPEEncoder:
        self._ready()
        return cast(BPEEncoder, self._encoder)


def _short(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
