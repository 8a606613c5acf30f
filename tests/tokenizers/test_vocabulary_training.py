import hashlib
import json
import os
import subprocess
import sys

import pytest
from real_data import bbc_news_lines, chinese_review_lines

from kerazoo import ByteBPETokenizer, GPTBPETokenizer, WordPieceTokenizer
from kerazoo.tokenizers.vocabulary_training import KINDS, _untrained, train_vocabulary

TEXTS = ["The film was played, greatly played.", "Playing a good film! 好电影", "films 好"] * 3


def lines():
    return bbc_news_lines()[:700] + chinese_review_lines()[:300]


def tokenizer_of(vocabulary):
    entries = {entry: number for number, entry in enumerate(vocabulary.entries)}
    if vocabulary.kind == "wordpiece":
        return WordPieceTokenizer(vocabulary.entries)
    if vocabulary.kind == "byte-bpe":
        return ByteBPETokenizer(entries, vocabulary.merges)
    return GPTBPETokenizer(entries, vocabulary.merges, end_token="<|endoftext|>")


def library_tokenizer(vocabulary):
    """The library's tokenizer with its own steps and what was trained."""
    from tokenizers import models

    entries = {entry: number for number, entry in enumerate(vocabulary.entries)}
    tokenizer = _untrained(vocabulary.kind, True, None)
    if vocabulary.kind == "wordpiece":
        tokenizer.model = models.WordPiece(entries, unk_token="[UNK]")
    elif vocabulary.kind == "byte-bpe":
        tokenizer.model = models.BPE(entries, list(vocabulary.merges))
    else:
        merges = list(vocabulary.merges)
        options = {"unk_token": "<unk>", "end_of_word_suffix": "</w>"}
        tokenizer.model = models.BPE(entries, merges, **options)
    return tokenizer


@pytest.mark.slow
@pytest.mark.real_data
@pytest.mark.parametrize("kind", KINDS)
def test_ids_are_those_of_the_trainers_own_tokenizer(kind):
    vocabulary = train_vocabulary(lines, 2500, kind)
    assert len(vocabulary.entries) == 2500
    texts = bbc_news_lines()[900:1500] + chinese_review_lines()[300:500]
    expected = [e.ids for e in library_tokenizer(vocabulary).encode_batch(texts)]
    assert tokenizer_of(vocabulary).tokenize(texts).to_list() == expected


_SCRIPT = """
import hashlib, json, sys
from kerazoo.tokenizers.vocabulary_training import KINDS, train_vocabulary
lines = json.load(sys.stdin)
for kind in KINDS:
    v = train_vocabulary(lambda: lines, 2500, kind)
    print(hashlib.sha256(json.dumps([v.entries, v.merges]).encode()).hexdigest())
"""


@pytest.mark.real_data
def test_every_process_and_number_of_threads_gives_the_same_entries():
    here = []
    for kind in KINDS:
        vocabulary = train_vocabulary(lines, 2500, kind)
        content = json.dumps([vocabulary.entries, vocabulary.merges]).encode()
        here.append(hashlib.sha256(content).hexdigest())
    result = subprocess.run(
        [sys.executable, "-c", _SCRIPT],
        input=json.dumps(lines()),
        env={**os.environ, "RAYON_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout.split() == here


def test_wordpiece_has_special_tokens_first_and_every_character():
    vocabulary = train_vocabulary(lambda: TEXTS, 120, character_coverage=1.0)
    assert vocabulary.entries[:5] == ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    entries = set(vocabulary.entries)
    assert len(entries) == len(vocabulary.entries)
    assert {"t", "##t", "好", "!", "film", "played"} <= entries
    # Han characters and punctuation are words by themselves, so they continue none.
    assert not {"##好", "##!", "T", "##T"} & entries
    assert vocabulary.characters_left_out == 0
    tokenizer = tokenizer_of(vocabulary)
    assert tokenizer.unknown_rate(TEXTS) == 0


def test_cased_vocabularies_keep_capitals_and_accents():
    vocabulary = train_vocabulary(lambda: ["Éa éa"] * 3, 40, lowercase=False)
    assert {"É", "é"} <= set(vocabulary.entries)
    assert "É" not in train_vocabulary(lambda: ["Éa éa"] * 3, 40).entries


def test_rare_characters_are_left_out_and_counted():
    texts = ["common letters " * 40, "罕"]
    vocabulary = train_vocabulary(lambda: texts, 60, character_coverage=0.998)
    assert "罕" not in vocabulary.entries
    assert vocabulary.characters_left_out == 1
    assert vocabulary.share_left_out == pytest.approx(1 / (40 * 13 + 1))


def test_characters_leave_room_for_longer_entries():
    texts = ["".join(map(chr, range(0x4E00, 0x4E00 + 200))), *["the longest words"] * 9]
    vocabulary = train_vocabulary(lambda: texts, 100, character_coverage=1.0)
    assert len(vocabulary.entries) <= 100
    assert {"longest", "the"} <= set(vocabulary.entries)
    assert vocabulary.characters_left_out > 130


def test_entries_that_no_piece_takes_are_characters_by_frequency():
    # Character n of 200 stands 200 - n times, and no two make up a piece.
    han = [chr(0x4E00 + number) for number in range(200)]
    texts = ["".join(han[: len(han) - number]) for number in range(len(han))]
    vocabulary = train_vocabulary(lambda: texts, 185, character_coverage=1.0)
    assert set(vocabulary.entries[5:]) == set(han[:180])
    assert vocabulary.characters_left_out == 20
    assert vocabulary.share_left_out == pytest.approx(sum(range(1, 21)) / sum(range(1, 201)))
    # Those that too few texts hold stay out, as was asked for, though there is room.
    rare = train_vocabulary(lambda: texts, 500, character_coverage=0.9)
    assert set(rare.entries[5:]) == set(han[: len(rare.entries) - 5])
    assert 0.08 < rare.share_left_out < 0.1


@pytest.mark.parametrize("kind", ["wordpiece", "gpt-bpe"])
def test_a_character_of_words_takes_both_of_its_forms_or_none(kind):
    letters = [chr(0x561 + number) for number in range(31)]  # Armenian
    texts = [" ".join(letters[: len(letters) - number]) for number in range(len(letters))]
    vocabulary = train_vocabulary(lambda: texts, 48, kind, character_coverage=1.0)
    form = "##{}" if kind == "wordpiece" else "{}</w>"
    singles = [entry for entry in vocabulary.entries if entry in letters]
    assert len(vocabulary.entries) in (47, 48)
    assert sorted(singles) == letters[: len(singles)]
    assert all(form.format(letter) in vocabulary.entries for letter in singles)
    assert len(set(vocabulary.entries)) == len(vocabulary.entries)
    assert vocabulary.characters_left_out == 31 - len(singles)
    assert tokenizer_of(vocabulary).unknown_rate([" ".join(singles) + " " + "".join(singles)]) == 0


@pytest.mark.parametrize(
    ("kind", "first"), [("byte-bpe", ("<|endoftext|>",)), ("gpt-bpe", ("<unk>", "<|endoftext|>"))]
)
def test_bpe_begins_with_its_special_tokens(kind, first):
    vocabulary = train_vocabulary(lambda: TEXTS, 300, kind)
    assert vocabulary.entries[: len(first)] == first
    assert len(vocabulary.merges) > 10
    tokenizer = tokenizer_of(vocabulary)
    text = "the film"
    assert tokenizer.detokenize(tokenizer.tokenize(text)).numpy().decode() == text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"size": 6}, "has no room.*Received: size=6"),
        ({"size": 200, "kind": "byte-bpe"}, "needs 256 entries or more"),
        ({"size": 90, "kind": "sentencepiece"}, "`kind` must be one of"),
        ({"size": 90, "character_coverage": 1.5}, "Received: character_coverage=1.5"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        train_vocabulary(lambda: TEXTS, **arguments)


def test_blank_texts_have_no_vocabulary():
    with pytest.raises(ValueError, match="The texts are blank"):
        train_vocabulary(lambda: ["", " "], 90)
