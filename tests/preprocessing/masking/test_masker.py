import numpy as np
import pytest
import tensorflow as tf
from masking_batches import (
    CLS,
    MASK,
    PAD,
    SEP,
    SPECIALS,
    UNUSED,
    VOCABULARY_SIZE,
    chi_square,
    make_masker,
    random_batch,
)

from kerazoo.preprocessing.masking.batch_part import BatchPart
from kerazoo.preprocessing.masking.masker import Masker, is_unused
from kerazoo.preprocessing.masking.selection_count import selection_count

MASKINGS = [
    {"masking": "token"},
    {"masking": "whole_word"},
    {"masking": "ngram"},
    {"masking": "ngram", "ngram_unit": "token"},
    {"masking": "token", "replace_per_word": True},
]
SEED = tf.constant([3, 8])


def mask(batch, seed=SEED, **options):
    features, mask_ids, weights = make_masker(**options).mask(
        batch.features, batch.word_starts, seed
    )
    return {k: v.numpy() for k, v in features.items()}, mask_ids.numpy(), weights.numpy()


@pytest.mark.parametrize("options", MASKINGS)
@pytest.mark.parametrize("longest_word", [4, 9])
def test_rows_are_masked_as_in_the_whole_batch(options, longest_word):
    # Words of up to 9 pieces do not fit into 6 slots, and more than the first ones are visited.
    batch = random_batch(40, 53, seed=5, longest_word=longest_word)
    options = {"replace_per_word": options["masking"] != "token", **options}
    features, *masks = mask(batch, **options)
    for begin, end in [(0, 13), (13, 14), (14, 40)]:
        own = {name: values[begin:end] for name, values in batch.features.items()}
        found, *others = make_masker(**options).mask(
            own, batch.word_starts[begin:end], SEED, BatchPart(begin, 40)
        )
        for name, values in found.items():
            np.testing.assert_array_equal(values, features[name][begin:end], err_msg=name)
        for values, expected in zip(others, masks, strict=True):
            np.testing.assert_array_equal(values, expected[begin:end])


def test_no_rows_have_no_masks():
    batch = random_batch(40, 53)
    for options in MASKINGS:
        nothing = {name: values[:0] for name, values in batch.features.items()}
        found = make_masker(**options).mask(nothing, batch.word_starts[:0], SEED, BatchPart(3, 40))
        assert [len(values) for values in (found[0]["token_ids"], *found[1:])] == [0, 0, 0]


@pytest.mark.parametrize("options", MASKINGS)
def test_slots_say_what_stood_where(options):
    batch = random_batch(120, 53, seed=1)
    before = batch.features["token_ids"].numpy()
    features, mask_ids, weights = mask(batch, **options)
    positions, new = features["mask_positions"], features["token_ids"]
    assert positions.shape == mask_ids.shape == weights.shape == (120, 6)
    assert (positions.dtype, mask_ids.dtype, weights.dtype) == ("int32", "int32", "float32")
    untouched = new == before
    for row in range(120):
        used = weights[row] > 0
        at = positions[row][used]
        assert used.tolist() == sorted(used, reverse=True)
        assert (np.diff(at) > 0).all()
        assert before[row, at].tolist() == mask_ids[row][used].tolist()
        assert (mask_ids[row][~used] == PAD).all()
        assert (positions[row][~used] == 0).all()
        assert np.delete(untouched[row], at).all()
    assert not np.isin(mask_ids[weights > 0], SPECIALS).any()
    drawn = new[~untouched]
    assert not np.isin(drawn, [CLS, SEP, PAD, *UNUSED]).any()
    assert features["segment_ids"].shape == before.shape


@pytest.mark.parametrize("options", [MASKINGS[0], MASKINGS[3]])
def test_every_row_has_as_many_masks_as_the_formula_says(options):
    batch = random_batch(400, 53, seed=2)
    _, _, weights = mask(batch, slots=7, **options)
    ids = batch.features["token_ids"].numpy()
    for row, length in enumerate(batch.lengths):
        count = selection_count(int(length), 0.15, 7)
        assert weights[row].sum() == min(count, (ids[row] > MASK).sum())


@pytest.mark.parametrize("options", MASKINGS)
def test_every_row_with_a_word_has_a_mask(options):
    batch = random_batch(400, 11, seed=3, longest_word=6)
    _, _, weights = mask(batch, slots=2, **options)
    if make_masker(**options).needs_words and "replace_per_word" not in options:
        expected = [bool(words) for words in batch.words]
    else:
        expected = (batch.features["token_ids"].numpy() > MASK).any(axis=1).tolist()
    assert (weights[:, 0] > 0).tolist() == expected
    assert not weights[0].any()  # [CLS] [SEP] [SEP]


@pytest.mark.parametrize("options", MASKINGS[1:3])
def test_words_are_chosen_whole(options):
    batch = random_batch(300, 53, seed=4)
    features, _, weights = mask(batch, slots=8, **options)
    for row, words in enumerate(batch.words):
        chosen = set(features["mask_positions"][row][weights[row] > 0].tolist())
        whole = [word for word in words if chosen & set(word)]
        assert sorted(p for word in whole for p in word) == sorted(chosen)


@pytest.mark.parametrize("options", MASKINGS)
def test_the_same_in_a_graph_and_for_the_same_seed(options):
    batch = random_batch(40, 29, seed=5)
    masker = make_masker(**options)
    inputs = (batch.features, batch.word_starts, SEED)
    expected = tf.nest.flatten(masker.mask(*inputs))
    for found in (masker.mask(*inputs), tf.function(masker.mask)(*inputs)):
        for a, b in zip(tf.nest.flatten(found), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    other = masker.mask(*inputs[:2], tf.constant([3, 9]))
    assert (other[0]["mask_positions"].numpy() != expected[0].numpy()).any()


@pytest.mark.parametrize("options", MASKINGS)
def test_eighty_ten_ten_in_every_kind(options):
    """Tokens of one word share their draw with `replace_per_word`, so words are counted there."""
    batch = random_batch(4000, 53, seed=6, longest_word=1 if "replace_per_word" in options else 3)
    before = batch.features["token_ids"].numpy()
    features, mask_ids, weights = mask(batch, slots=8, **options)
    rows, slots = np.nonzero(weights)
    new = features["token_ids"][rows, features["mask_positions"][rows, slots]]
    old = mask_ids[rows, slots]
    assert (before[rows, features["mask_positions"][rows, slots]] == old).all()
    ordinary = len(set(range(VOCABULARY_SIZE)) - {*SPECIALS, *UNUSED})
    total = len(new)
    counts = [(new == MASK).sum(), (new == old).sum(), ((new != MASK) & (new != old)).sum()]
    # A random token is the old one once in as many times as there are tokens.
    expected = [0.8, 0.1 + 0.1 / ordinary, 0.1 - 0.1 / ordinary]
    assert total > 14_000
    assert chi_square(counts, [share * total for share in expected]) < 13.8


@pytest.mark.parametrize("options", MASKINGS[1:4])
@pytest.mark.parametrize("rows", [1, 3])
def test_batches_of_a_known_size_keep_it(options, rows):
    batch = random_batch(rows + 1, 29, seed=5)
    features = {key: value[1:] for key, value in batch.features.items()}
    expected = make_masker(**options).mask(features, batch.word_starts[1:], SEED)
    dataset = tf.data.Dataset.from_tensors((features, batch.word_starts[1:]))
    masked = dataset.map(lambda x, starts: make_masker(**options).mask(x, starts, SEED))
    for a, b in zip(*map(tf.nest.flatten, (next(iter(masked)), expected)), strict=True):
        np.testing.assert_array_equal(a, b)


def test_unselectable_tokens_and_their_words_are_left_alone():
    batch = random_batch(200, 53, seed=7)
    never = (7, 8, 9)
    _, mask_ids, _ = mask(batch, unselectable_token_ids=never)
    assert not np.isin(mask_ids, never).any()
    features, mask_ids, weights = mask(batch, masking="whole_word", unselectable_token_ids=never)
    ids = batch.features["token_ids"].numpy()
    for row, words in enumerate(batch.words):
        for position in features["mask_positions"][row][weights[row] > 0]:
            (word,) = (word for word in words if position in word)
            assert not np.isin(ids[row, word], never).any()


def test_what_is_chosen_is_told_without_masking():
    batch = random_batch(50, 53, seed=8)
    masker = make_masker("ngram", slots=8)
    chosen = masker.choose(batch.features, batch.word_starts, SEED)
    features, _, weights = masker.mask(batch.features, batch.word_starts, SEED)
    is_chosen = chosen.mask(batch.word_starts).numpy()
    for row in range(50):
        at = features["mask_positions"].numpy()[row][weights.numpy()[row] > 0]
        assert np.flatnonzero(is_chosen[row]).tolist() == at.tolist()


def test_a_batch_of_nothing():
    batch = random_batch(2, 9)
    empty = {key: value[:0] for key, value in batch.features.items()}
    for options in MASKINGS:
        features, ids, weights = make_masker(**options).mask(empty, batch.word_starts[:0], SEED)
        assert features["token_ids"].shape == (0, 9)
        assert ids.shape == weights.shape == (0, 6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"masking": "words"}, "'token', 'whole_word', 'ngram'"),
        ({"ngram_unit": "line"}, "'word', 'token'"),
        ({"slots": 0}, "mask_selection_length"),
        ({"mask_selection_rate": 1.5}, "`mask_selection_rate` must be a number from 0 to 1"),
        ({"mask_token_rate": 0.8, "random_token_rate": 0.3}, "sum to at most 1"),
        ({"ngram_weights": (0.5, 0.6)}, "shares that sum to 1"),
    ],
)
def test_impossible_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_masker(**options)


def test_words_are_needed_for_words():
    batch = random_batch(2, 9)
    with pytest.raises(ValueError, match="where words start.*masking='whole_word'"):
        make_masker("whole_word").mask(batch.features, None, SEED)
    make_masker("ngram", ngram_unit="token").mask(batch.features, None, SEED)


def test_a_vocabulary_of_specials_has_nothing_to_draw():
    masker = Masker(5, MASK, PAD, 3, special_token_ids=SPECIALS)
    with pytest.raises(ValueError, match="no entry from which a random token could be drawn"):
        _ = masker.drawn_ids
    assert Masker(5, MASK, PAD, 3, SPECIALS, random_token_rate=0.0).drawn_ids == (MASK,)


def test_a_tokenizer_says_its_ids(tiny_tokenizer, tiny_bpe_tokenizer):
    masker = Masker.from_tokenizer(tiny_tokenizer, mask_selection_length=4)
    assert set(masker.special_token_ids) == set(range(5))
    assert masker.mask_token_id == tiny_tokenizer.mask_token_id
    assert masker.pad_token_id == 3
    assert not set(masker.drawn_ids) & set(range(5))
    with pytest.raises(ValueError, match="ByteBPETokenizer"):
        Masker.from_tokenizer(tiny_bpe_tokenizer, mask_selection_length=4)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [("[unused7]", True), ("<unused3>", True), ("<unused_3>", True), ("unused", False)],
)
def test_unused_slots_are_known_by_their_names(entry, expected):
    assert is_unused(entry) == expected
