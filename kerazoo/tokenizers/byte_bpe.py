"""The tokenizer of GPT-2."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import keras

from kerazoo.tokenizers.bpe import BPEEncoder, BPETokenizer
from kerazoo.tokenizers.bpe_vocabulary import BPEVocabulary
from kerazoo.tokenizers.byte_bpe_encoder import ByteBPEEncoder
from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS


@keras.saving.register_keras_serializable(package="kerazoo")
class ByteBPETokenizer(BPETokenizer):
    """GPT-2's tokenizer: byte-level BPE with character offsets, in the graph.

    A text is cut into words by GPT-2's pattern (a space belongs to the word after it), and the
    bytes of each word are merged (Radford et al., 2019). Nothing is unknown, and `detokenize` gives
    the text back byte for byte. Ids equal those of the `tokenizers` library with `ByteLevel`.

    Args:
        vocabulary: dict of entries and ids, or the path of a JSON file with such an object
            (`encoder.json`, `vocab.json`). Entries are written in GPT-2's alphabet: "Ġthe".
        merges: list of "left right" or (left, right) in order of rank, or the path of a file with
            one a line (`vocab.bpe`, `merges.txt`). Both can also be given later with
            `set_vocabulary_and_merges`.
        end_token: str, the entry that ends a text; None if there is none.
        start_token: str, the entry that starts a text; None takes the end token.
        pad_token: str, the entry that fills up short rows; None takes the end token (id 0 without
            one), as padding is told by masks.
        special_tokens_in_strings: bool, read "<|endoftext|>" and the like in texts as one id. Leave
            it off for texts that others wrote: they could end a text.
        task_tokens: bool, have three more ids after the vocabulary's for fine-tuning: `<s>`, `$`
            and `<e>`, which no text gives.
        **kwargs: `name`, `dtype`, `trainable` and `config_file`, as in KerasHub.

    Example:
        >>> tokenizer = ByteBPETokenizer("encoder.json", "vocab.bpe")
        >>> ids, starts, ends = tokenizer.tokenize_with_offsets(["Tokens don't"])
        >>> ids.to_list(), starts.to_list(), ends.to_list()
        ([[22906, 836, 470]], [[0, 6, 10]], [[6, 10, 12]])
        >>> tokenizer.detokenize(ids)[0].numpy()
        b"Tokens don't"
    """

    def __init__(
        self,
        vocabulary: str | Path | Mapping[str, int] | None = None,
        merges: str | Path | Iterable[str | Sequence[str]] | None = None,
        end_token: str | None = "<|endoftext|>",
        start_token: str | None = None,
        pad_token: str | None = None,
        special_tokens_in_strings: bool = False,
        task_tokens: bool = False,
        **kwargs: Any,
    ) -> None:
        """Store the options and compile vocabulary and merges, if there are any."""
        self.unk_token_id = None
        super().__init__(
            vocabulary,
            merges,
            {
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
        missing = [character for character in BYTE_CHARACTERS if character not in vocabulary.ids]
        if missing:
            raise ValueError(
                "A byte-level vocabulary needs an entry for each of the 256 bytes, but lacks "
                f"{len(missing)}. Received: no entries {', '.join(map(repr, missing[:5]))}"
                + (", …" if len(missing) > 5 else "")
            )
        return ByteBPEEncoder(vocabulary, special_tokens, task_tokens)
