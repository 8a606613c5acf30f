from random import Random

import numpy as np
import pytest

from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.records import parse_records, read_manifest, read_shards
from kerazoo.data.static_masks import StaticMasks
from kerazoo.preprocessing.masking.reference import word_candidates


def rows_of(corpus, tokenizer, folder, **options):
    settings = PrepareSettings(sequence_length=23, documents_per_block=5, **options)
    prepare([corpus], tokenizer, folder, settings)
    records = next(iter(read_shards(folder).batch(10_000)))
    return {k: v.numpy() for k, v in parse_records(records, read_manifest(folder)).items()}


@pytest.mark.parametrize("masking", ["token", "whole_word", "ngram"])
def test_copies_of_a_corpus_have_masks_of_their_own(corpus, tiny_tokenizer, tmp_path, masking):
    file = corpus(14)
    plain = rows_of(file, tiny_tokenizer, tmp_path / "plain", objective="bert-mlm")
    rows = rows_of(
        file,
        tiny_tokenizer,
        tmp_path / "masked",
        objective="bert-mlm",
        static_masks=2,
        masking=masking,
        mask_selection_rate=0.3,
    )
    assert len(rows["token_ids"]) == 2 * len(plain["token_ids"])
    slots = rows["mask_positions"].shape[1]
    assert slots == 7  # 0.3 × 23 rounded
    original = rows["token_ids"].copy()
    used = rows["mask_weights"] > 0
    row, _ = np.nonzero(used)
    original[row, rows["mask_positions"][used]] = rows["mask_ids"][used]
    # Both copies are the corpus, with other masks; blocks come one after another.
    assert {tuple(ids) for ids in original} == {tuple(ids) for ids in plain["token_ids"]}
    assert len({tuple(ids) for ids in rows["token_ids"]}) > len(plain["token_ids"])
    counts = used.sum(axis=1)
    lengths = rows["padding_mask"].sum(axis=1)
    expected = np.minimum(slots, np.maximum(1, np.round(lengths * 0.3)))
    assert np.all(counts == expected) if masking == "token" else np.all(counts >= 1)
    assert np.all(rows["mask_ids"][~used] == tiny_tokenizer.pad_token_id)
    assert not np.isin(rows["mask_ids"][used], tiny_tokenizer.special_token_ids).any()
    share = np.mean(rows["token_ids"][row, rows["mask_positions"][used]] == 4)
    assert share == pytest.approx(0.8, abs=0.2)


def test_whole_words_are_masked_whole(corpus, tiny_tokenizer, tmp_path):
    rows = rows_of(
        corpus(14), tiny_tokenizer, tmp_path / "masked", static_masks=1, masking="whole_word"
    )
    around = np.isin(rows["token_ids"], tiny_tokenizer.template_token_ids)
    of_several_pieces = 0
    for row, positions in enumerate(rows["mask_positions"]):
        chosen = positions[rows["mask_weights"][row] > 0]
        words = word_candidates(rows["word_starts"][row], around[row], ~around[row])
        touched = [word for word in words if set(word) & set(chosen.tolist())]
        assert sorted(sum(touched, [])) == chosen.tolist()
        of_several_pieces += any(len(word) > 1 for word in touched)
    assert of_several_pieces > 5


def test_the_same_random_numbers_give_the_same_masks(tiny_tokenizer):
    masks = StaticMasks(tiny_tokenizer, PrepareSettings(static_masks=1, sequence_length=40))
    ids = np.array([1, *range(5, 25), 2])
    starts = np.ones(22, bool)
    first = masks.mask(ids, starts, Random("1 2 0"))
    again = masks.mask(ids, starts, Random("1 2 0"))
    np.testing.assert_array_equal(first[0], again[0])
    assert first[1:] == again[1:]
    assert masks.mask(ids, starts, Random("1 2 1"))[1] != first[1]
