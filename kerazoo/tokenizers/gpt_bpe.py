"""The tokenizer of GPT-1."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

from kerazoo.tokenizers.bpe import BPEEncoder, BPETokenizer
from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary
from kerazoo.tokenizers.gpt_bpe_encoder import GPTBPEEncoder


@keras.saving.register_keras_serializable(package="kerazoo")
class GPTBPETokenizer(BPETokenizer):
    """GPT-1's tokenizer: lower-cased BPE with end-of-word marks and offsets, in the graph.

    A text is normalised and cut into words as for uncased BERT, and the characters of each word are
    merged (Radford et al., 2018); the last one carries the mark `</w>`, so that "the" within a
    word and the word "the" are different tokens. Ids equal those of OpenAIGPTTokenizer in
    `transformers`.

    Args:
        vocabulary: dict of entries and ids, or the path of a JSON file with such an object
            (`encoder_bpe_40000.json`, `vocab.json`).
        merges: list of "left right" or (left, right) in order of rank, or the path of a file with
            one a line (`vocab_40000.bpe`, `merges.txt`). Both can also be given later with
            `set_vocabulary_and_merges`.
        lowercase: bool, lower-case the text.
        strip_accents: bool, delete accents and other combining marks; None follows `lowercase`.
        unk_token: str, the entry for characters that the vocabulary lacks.
        end_token: str, the entry that ends a text; None if there is none (GPT-1 has none).
        start_token: str, the entry that starts a text; None takes the end token.
        pad_token: str, the entry that fills up short rows; None takes the end token (id 0 without
            one), as padding is told by masks.
        special_tokens_in_strings: bool, read "<unk>" and the like in texts as one id.
        task_tokens: bool, have three more ids after the vocabulary's for fine-tuning: `<s>`, `$`
            and `<e>`, which no text gives.
        **kwargs: `name`, `dtype`, `trainable` and `config_file`, as in KerasHub.

    Example:
        >>> entries = ["<unk>", "p", "l", "a", "y", "y</w>", "pl", "ay</w>"]
        >>> vocabulary = {entry: number for number, entry in enumerate(entries)}
        >>> tokenizer = GPTBPETokenizer(vocabulary, ["p l", "a y</w>"])
        >>> ids, starts, ends = tokenizer.tokenize_with_offsets(["Play it"])
        >>> ids.to_list(), starts.to_list(), ends.to_list()
        ([[6, 7, 0, 0]], [[0, 2, 5, 6]], [[2, 4, 6, 7]])
    """

    def __init__(
        self,
        vocabulary: str | Path | Mapping[str, int] | None = None,
        merges: str | Path | Iterable[str | Sequence[str]] | None = None,
        lowercase: bool = True,
        strip_accents: bool | None = None,
        unk_token: str = "<unk>",
        end_token: str | None = None,
        start_token: str | None = None,
        pad_token: str | None = None,
        special_tokens_in_strings: bool = False,
        task_tokens: bool = False,
        **kwargs: Any,
    ) -> None:
        """Store the options and compile vocabulary and merges, if there are any."""
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        super().__init__(
            vocabulary,
            merges,
            {
                "unk_token": unk_token,
                "end_token": end_token,
                "start_token": start_token,
                "pad_token": pad_token,
            },
            special_tokens_in_strings=special_tokens_in_strings,
            task_tokens=task_tokens,
            **kwargs,
        )

    def make_encoder(
        self,
        vocabulary: BPEVocabulary,
        special_tokens: Mapping[str, int],
        task_tokens: Sequence[str],
    ) -> BPEEncoder:
        """Return what turns texts into ids; see `BPETokenizer`."""
        return GPTBPEEncoder(
            vocabulary,
            special_tokens,
            task_tokens,
            unknown_token=self.unk_token,
            lowercase=self.lowercase,
            strip_accents=self.lowercase if self.strip_accents is None else self.strip_accents,
        )

    def get_config(self) -> dict[str, Any]:
        """Return every option but vocabulary and merges, which are saved as files beside it."""
        return {
            **super().get_config(),
            "lowercase": self.lowercase,
            "strip_accents": self.strip_accents,
        }
