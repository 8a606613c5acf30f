"""Train a vocabulary on texts: WordPiece, byte-level BPE or GPT-1's BPE."""

import dataclasses
import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from kerazoo.checks import check_one_of, check_positive
from kerazoo.tokenizers.alphabet import count_characters, is_always_a_word, most_frequent

WORDPIECE = "wordpiece"
BYTE_BPE = "byte-bpe"
GPT_BPE = "gpt-bpe"
KINDS = (WORDPIECE, BYTE_BPE, GPT_BPE)

END_OF_TEXT = "<|endoftext|>"
_SPECIAL_TOKENS = {
    WORDPIECE: ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    BYTE_BPE: (END_OF_TEXT,),
    GPT_BPE: ("<unk>", END_OF_TEXT),
}
_CONTINUATION = "##"
_END_OF_WORD = "</w>"


@dataclasses.dataclass(frozen=True)
class TrainedVocabulary:
    """A vocabulary and how it was trained.

    Args:
        kind: "wordpiece", "byte-bpe" or "gpt-bpe".
        entries: the entries in id order, special tokens first.
        merges: (left, right) of each merge in order of rank; none for "wordpiece".
        characters_left_out: int, how many different characters are unknown, as they are too rare.
        share_left_out: float, their share of all characters of the texts.
    """

    kind: str
    entries: tuple[str, ...]
    merges: tuple[tuple[str, str], ...]
    characters_left_out: int
    share_left_out: float


def train_vocabulary(
    texts: Callable[[], Iterable[str]],
    size: int,
    kind: str = WORDPIECE,
    lowercase: bool = True,
    strip_accents: bool | None = None,
    min_frequency: int = 2,
    character_coverage: float = 0.9995,
    show_progress: bool = False,
) -> TrainedVocabulary:
    """Train a vocabulary with the `tokenizers` library; the same texts give the same entries.

    Texts are normalised and cut as kerazoo's tokenizers do it. They are read while they are
    counted; memory holds their different words.

    Args:
        texts: gives the texts anew at each call, as all but "byte-bpe" read them twice.
        size: int, the most entries, special tokens included.
        kind: "wordpiece" (`WordPieceTokenizer`), "byte-bpe" (`ByteBPETokenizer`) or "gpt-bpe"
            (`GPTBPETokenizer`).
        lowercase: bool, lower-case the texts; "byte-bpe" never does.
        strip_accents: bool, delete combining marks; None follows `lowercase`.
        min_frequency: int, longer entries that are rarer are left out.
        character_coverage: float, the share of all characters of the texts that is known; the
            rarest ones are left out. They take up three quarters of the entries, and those that
            longer entries do not need.
        show_progress: bool, let the library show bars on standard error.

    Raises:
        ValueError: if the size leaves no room beside special tokens and bytes, or the texts are
            blank.
    """
    check_one_of("kind", kind, KINDS)
    check_positive("size", size)
    check_positive("min_frequency", min_frequency)
    if not 0 < character_coverage <= 1:
        raise ValueError(
            "`character_coverage` must be a number above 0 and at most 1. "
            f"Received: character_coverage={character_coverage!r}"
        )
    room = _room(kind, size)
    tokenizer = _untrained(kind, lowercase, strip_accents)
    counts, wanted = _characters(kind, texts, tokenizer, character_coverage)
    alphabet = _alphabet(kind, wanted, room)
    trainer = _trainer(kind, size, sorted(alphabet), min_frequency, show_progress)
    tokenizer.train_from_iterator(texts(), trainer)
    model = json.loads(tokenizer.to_str())["model"]
    entries = sorted(model["vocab"], key=model["vocab"].__getitem__)
    more = _that_fit(kind, wanted[len(alphabet) :], size - len(entries))
    left_out = counts.total() - sum(counts[character] for character in alphabet + more)
    return TrainedVocabulary(
        kind=kind,
        entries=(*entries, *_symbols(kind, more)),
        merges=tuple((left, right) for left, right in model.get("merges", ())),
        characters_left_out=len(counts) - len(alphabet) - len(more),
        share_left_out=left_out / max(1, counts.total()),
    )


def _untrained(kind: str, lowercase: bool, strip_accents: bool | None) -> Any:
    """Return a tokenizer of the library with the steps of kerazoo's tokenizer."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    if kind == BYTE_BPE:
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        return tokenizer
    if kind == WORDPIECE:
        tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    else:
        tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix=_END_OF_WORD))
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=lowercase, strip_accents=strip_accents
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _room(kind: str, size: int) -> int:
    """Return how many entries there are beside the special tokens."""
    room = size - len(_SPECIAL_TOKENS[kind])
    needed = 256 if kind == BYTE_BPE else 2
    if room < needed:
        raise ValueError(
            f"The vocabulary has no room: beside its special tokens it needs {needed} entries or "
            f"more. Received: size={size}"
        )
    return room


def _characters(
    kind: str, texts: Callable[[], Iterable[str]], tokenizer: Any, coverage: float
) -> tuple[Counter[str], list[str]]:
    """Return how often each character occurs, and those to be known, by frequency."""
    if kind == BYTE_BPE:
        return Counter(), []
    counts = count_characters(texts(), tokenizer.normalizer.normalize_str)
    if not counts:
        raise ValueError("The texts are blank, so there is nothing to make a vocabulary of.")
    return counts, most_frequent(counts, coverage)


def _alphabet(kind: str, wanted: list[str], room: int) -> list[str]:
    """Return the characters of which longer entries are made: most of them, if not all fit."""
    kept = wanted[:room]
    while len(_symbols(kind, kept)) > max(2, room * 3 // 4):
        # Most characters need two entries; the rarest ones have to go.
        kept = kept[: max(1, len(kept) * 15 // 16)]
    return kept


def _that_fit(kind: str, characters: list[str], room: int) -> list[str]:
    """Return the first characters for whose entries there is room."""
    kept = []
    for character in characters:
        needed = len(_symbols(kind, [character]))
        if needed <= room:
            kept.append(character)
            room -= needed
    return kept


def _symbols(kind: str, alphabet: list[str]) -> list[str]:
    """Return the entries of one character, in both forms that a character can have."""
    if kind == WORDPIECE:
        return [*alphabet, *(_CONTINUATION + c for c in alphabet if not is_always_a_word(c))]
    return [*alphabet, *(c + _END_OF_WORD for c in alphabet)]


def _trainer(
    kind: str, size: int, alphabet: list[str], min_frequency: int, show_progress: bool
) -> Any:
    """Return a trainer of the library.

    It numbers characters in the random order of its own table, and breaks ties by number. Symbols
    that are named as special tokens have fixed numbers, so that ties are broken alike every time.
    """
    from tokenizers import pre_tokenizers, trainers

    options: dict[str, Any] = {
        "vocab_size": size,
        "min_frequency": min_frequency,
        "show_progress": show_progress,
    }
    specials = list(_SPECIAL_TOKENS[kind])
    if kind == BYTE_BPE:
        letters = pre_tokenizers.ByteLevel.alphabet()
        return trainers.BpeTrainer(special_tokens=specials, initial_alphabet=letters, **options)
    options |= {
        "special_tokens": specials + _symbols(kind, alphabet),
        "initial_alphabet": alphabet,
        "limit_alphabet": len(alphabet),
    }
    if kind == WORDPIECE:
        return trainers.WordPieceTrainer(continuing_subword_prefix=_CONTINUATION, **options)
    return trainers.BpeTrainer(end_of_word_suffix=_END_OF_WORD, **options)
