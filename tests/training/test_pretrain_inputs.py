import numpy as np
import pytest
import tensorflow as tf

from kerazoo.axes import MASK_POSITIONS, MASKED_LM, NEXT_SENTENCE
from kerazoo.data.data_server import DataServer
from kerazoo.data.data_service import DataService
from kerazoo.data.records import parse_records, read_manifest, read_shards
from kerazoo.data.row_format import RowFormat
from kerazoo.data.shard_rows import ShardRows
from kerazoo.preprocessing.masking.masker import Masker
from kerazoo.training.pretrain_inputs import PretrainInputs

BERT_INPUTS = ("token_ids", "segment_ids", "padding_mask", MASK_POSITIONS)


@pytest.fixture
def masker(tiny_tokenizer):
    return Masker.from_tokenizer(tiny_tokenizer, mask_selection_length=3, masking="whole_word")


def batches(dataset, count=-1):
    return list(dataset.take(count).as_numpy_iterator())


def flat(batch):
    features, targets, weights = batch
    parts = [targets, weights] if isinstance(targets, np.ndarray) else []
    if not parts:
        parts = [*targets.values(), *weights.values()]
    return [*features.values(), *parts]


def same(first, second):
    return all(
        np.array_equal(a, b)
        for x, y in zip(first, second, strict=True)
        for a, b in zip(flat(x), flat(y), strict=True)
    )


def rows_of(folder):
    manifest = read_manifest(folder)
    dataset = read_shards(folder).batch(1000).map(lambda records: parse_records(records, manifest))
    (rows,) = dataset.as_numpy_iterator()
    return rows


def test_pairs_have_both_targets(make_shards, masker):
    source = ShardRows(make_shards("bert"), read_manifest(make_shards("bert")))
    inputs = PretrainInputs(source.row_format, BERT_INPUTS, masker)
    ((features, targets, weights),) = batches(inputs.training_dataset(source, 5, seed=1), 1)
    assert set(features) == set(BERT_INPUTS)
    assert features["token_ids"].shape == (5, 19)
    assert targets[MASKED_LM].shape == weights[MASKED_LM].shape == (5, 3)
    assert targets[NEXT_SENTENCE].shape == (5,)
    np.testing.assert_array_equal(weights[NEXT_SENTENCE], np.ones(5))
    # Each row is one of the shards with the masks filled in, and keeps its label.
    rows = rows_of(make_shards("bert"))
    pairs = zip(rows["token_ids"], rows["next_sentence_label"], strict=True)
    labels = {row.tobytes(): label for row, label in pairs}
    for number in range(5):
        ids = features["token_ids"][number].copy()
        used = weights[MASKED_LM][number] > 0
        ids[features[MASK_POSITIONS][number][used]] = targets[MASKED_LM][number][used]
        assert labels[ids.tobytes()] == targets[NEXT_SENTENCE][number]


def test_single_texts_have_masked_ids(make_shards, masker):
    folder = make_shards("bert-mlm")
    source = ShardRows(folder, read_manifest(folder))
    inputs = PretrainInputs(source.row_format, BERT_INPUTS, masker)
    ((_, targets, weights),) = batches(inputs.training_dataset(source, 5, seed=1), 1)
    assert targets.shape == weights.shape == (5, 3)
    assert weights.sum() >= 5


def test_next_tokens(make_shards):
    folder = make_shards("gpt")
    source = ShardRows(folder, read_manifest(folder))
    inputs = PretrainInputs(source.row_format, ("token_ids", "padding_mask"), None)
    ((features, targets, weights),) = batches(inputs.validation_dataset(AllHeldOut(source), 1000))
    rows = rows_of(folder)
    whole = np.concatenate([features["token_ids"], targets[:, -1:]], axis=1)
    real = np.concatenate([features["padding_mask"], weights[:, -1:]], axis=1)
    np.testing.assert_array_equal(features["token_ids"][:, 1:], targets[:, :-1])
    np.testing.assert_array_equal(features["padding_mask"][:, 1:], weights[:, :-1])
    assert sorted(map(bytes, whole)) == sorted(map(bytes, rows["token_ids"]))
    assert real.sum() == rows["padding_mask"].sum()
    assert 0 < weights.mean() < 1


class AllHeldOut:
    """A source whose rows are all held out."""

    def __init__(self, source):
        self.source = source
        self.held_out_rows = source.training_rows

    def held_out(self):
        return self.source.groups(0).take(1).flat_map(_rows)


def _rows(number, records):
    return tf.data.Dataset.from_tensor_slices(records)


@pytest.mark.slow
def test_a_batch_depends_on_the_seed_and_its_number_alone(make_shards, masker):
    folder = make_shards("bert")
    source = ShardRows(folder, read_manifest(folder), group_rows=20, seed=1)
    inputs = PretrainInputs(source.row_format, BERT_INPUTS, masker)
    whole = batches(inputs.training_dataset(source, 7, seed=1), 30)
    for first in (1, 25):
        later = batches(inputs.training_dataset(source, 7, seed=1, first_batch=first), 3)
        assert same(later, whole[first : first + 3])
    assert not same(batches(inputs.training_dataset(source, 7, seed=2), 2), whole[:2])


def test_masks_are_new_in_every_epoch_and_frozen_in_evaluation(make_shards, masker):
    folder = make_shards("bert-mlm")
    source = ShardRows(folder, read_manifest(folder), held_out_fraction=0.3)
    inputs = PretrainInputs(source.row_format, BERT_INPUTS, masker)
    validation = inputs.validation_dataset(source, 4)
    first, again = batches(validation), batches(validation)
    assert same(first, again)
    assert len(validation) == len(first)
    assert sum(len(batch[1]) for batch in first) == source.held_out_rows
    steps = source.training_rows
    masks = {}
    for features, targets, weights in batches(inputs.training_dataset(source, 1, 5), 2 * steps):
        ids = features["token_ids"][0].copy()
        used = weights[0] > 0
        ids[features[MASK_POSITIONS][0][used]] = targets[0][used]
        masks.setdefault(ids.tobytes(), []).append(tuple(features[MASK_POSITIONS][0]))
    assert all(len(found) % 2 == 0 for found in masks.values())
    assert sum(len(set(found)) > 1 for found in masks.values()) > len(masks) / 2


@pytest.mark.parametrize("objective", ["bert", "bert-mlm"])
def test_static_masks_are_taken_as_they_are(make_shards, objective):
    folder = make_shards(objective, static_masks=2)
    source = ShardRows(folder, read_manifest(folder))
    inputs = PretrainInputs(source.row_format, BERT_INPUTS, None)
    features, targets, weights = batches(inputs.validation_dataset(AllHeldOut(source), 9), 1)[0]
    if objective == "bert":
        targets, weights = targets[MASKED_LM], weights[MASKED_LM]
    rows = rows_of(folder)
    found = {row.tobytes(): n for n, row in enumerate(rows["token_ids"])}
    for number, ids in enumerate(features["token_ids"]):
        row = found[ids.tobytes()]
        np.testing.assert_array_equal(features[MASK_POSITIONS][number], rows["mask_positions"][row])
        np.testing.assert_array_equal(targets[number], rows["mask_ids"][row])
        np.testing.assert_array_equal(weights[number], rows["mask_weights"][row])


def test_the_first_token_of_a_packed_text_is_no_target(make_shards):
    folder = make_shards("gpt", packing="lines")
    source = ShardRows(folder, read_manifest(folder))
    inputs = PretrainInputs(source.row_format, ("token_ids", "padding_mask"), None)
    ((features, _, weights),) = batches(inputs.validation_dataset(AllHeldOut(source), 1000))
    rows = rows_of(folder)["padding_mask"]
    assert rows.max() > 1
    texts = sum(len(set(row) - {0}) for row in rows)
    assert weights.sum() == (rows > 0).sum() - texts
    begins = (features["padding_mask"][:, 1:] != features["padding_mask"][:, :-1]).nonzero()
    assert not weights[begins].any()


def test_masks_of_packed_rows_are_the_rate_of_the_row(make_shards, tiny_tokenizer):
    folder = make_shards("bert-mlm", packing="lines")
    source = ShardRows(folder, read_manifest(folder))
    masker = Masker.from_tokenizer(tiny_tokenizer, mask_selection_length=9)
    inputs = PretrainInputs(source.row_format, BERT_INPUTS, masker)
    ((features, _, weights),) = batches(inputs.training_dataset(source, 7, seed=1), 1)
    assert features["padding_mask"].max() > 1
    tokens = (features["padding_mask"] > 0).sum(axis=1)
    np.testing.assert_array_equal(weights.sum(axis=1), np.maximum(1, np.round(tokens * 0.15)))


@pytest.mark.parametrize("objective", ["bert", "gpt"])
def test_batches_of_similar_length_have_less_padding(make_shards, masker, objective):
    folder = make_shards(objective)
    source = ShardRows(folder, read_manifest(folder))
    names = BERT_INPUTS if objective == "bert" else ("token_ids", "padding_mask")
    chosen = None if objective == "gpt" else masker
    plain = PretrainInputs(source.row_format, names, chosen)
    inputs = PretrainInputs(source.row_format, names, chosen, bucket_width=4)
    count = source.training_rows // 5
    whole = batches(inputs.training_dataset(source, 5, seed=1), count)
    lengths = [(features["padding_mask"] > 0).sum(axis=1) for features, _, _ in whole]
    for (features, _, _), found in zip(whole, lengths, strict=True):
        assert features["token_ids"].shape[1] == min(19, -(-found.max() // 4) * 4)
    assert same(batches(inputs.training_dataset(source, 5, 1, first_batch=2), 2), whole[2:4])
    mixed = batches(plain.training_dataset(source, 5, seed=1), count)
    assert all(features["token_ids"].shape[1] == 19 for features, _, _ in mixed)
    if objective == "bert":
        spread = [(features["padding_mask"] > 0).sum(axis=1) for features, _, _ in mixed]
        assert sum(map(np.ptp, lengths)) < sum(map(np.ptp, spread))


@pytest.mark.parametrize(
    ("objective", "options"), [("bert", {"masking": "whole_word"}), ("gpt", None)]
)
@pytest.mark.parametrize("width", [None, 4])
def test_some_rows_are_those_of_the_whole_batch(
    make_shards, tiny_tokenizer, monkeypatch, objective, options, width
):
    folder = make_shards(objective)
    source = ShardRows(folder, read_manifest(folder), group_rows=20, seed=1)
    names = BERT_INPUTS if options else ("token_ids", "padding_mask")
    masker = options and Masker.from_tokenizer(tiny_tokenizer, mask_selection_length=3, **options)
    inputs = PretrainInputs(source.row_format, names, masker, bucket_width=width)
    decoded = []
    parse = RowFormat.parse

    def noted(row_format, records):
        decoded.append(records.shape[0])
        return parse(row_format, records)

    monkeypatch.setattr(RowFormat, "parse", noted)
    given = (source, 7, 1, 2)
    whole = batches(inputs.training_dataset(*given), 6)
    for begin, end in [(0, 3), (3, 7)]:
        own = batches(inputs.training_dataset(*given, own=(begin, end)), 6)
        for batch, expected in zip(own, whole, strict=True):
            for values, all_values in zip(flat(batch), flat(expected), strict=True):
                np.testing.assert_array_equal(values, all_values[begin:end])
    assert decoded == [7, 3, 4]  # no other row is decoded, or masked


@pytest.mark.slow
@pytest.mark.parametrize(
    ("objective", "options", "servers"),
    [
        ("bert", {"masking": "ngram"}, 2),
        ("bert-mlm", {"masking": "whole_word", "replace_per_word": True}, 1),
        ("gpt", None, 2),
    ],
)
def test_a_data_service_gives_the_same_batches(
    make_shards, tiny_tokenizer, monkeypatch, objective, options, servers
):
    folder = make_shards(objective)
    monkeypatch.chdir(folder.parent)
    source = ShardRows(folder.name, read_manifest(folder), group_rows=20, seed=1)
    names = BERT_INPUTS if options else ("token_ids", "padding_mask")
    masker = options and Masker.from_tokenizer(tiny_tokenizer, mask_selection_length=3, **options)
    inputs = PretrainInputs(source.row_format, names, masker, bucket_width=4)
    with DataServer() as first, DataServer() as second:
        service = DataService([first.address, second.address][:servers])
        made = [
            [inputs.training_dataset(source, 7, 1, number, by) for by in (service, None)]
            for number in (0, 5)
        ]
        monkeypatch.chdir("/")  # servers have another folder, and find the shards all the same
        for served, whole in made:
            assert same(batches(served, 20), batches(whole, 20))
