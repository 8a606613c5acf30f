import numpy as np
import pytest

from kerazoo.analysis.analysed_model import AnalysedModel
from kerazoo.analysis.head_measures import MEASURES, TokenRoles, head_measures
from kerazoo.analysis.packed_texts import pack_texts

PAIRS = [("a good film .", "Not bad !"), ("play", "dull , very dull")]


def random_scores(packed, causal=False, seed=0):
    """(batch, heads, query, key): rows over the visible keys, and nothing on the others."""
    real = packed.features["padding_mask"].astype(bool)
    width = real.shape[1]
    visible = np.broadcast_to(real[:, None, None, :], (len(real), 3, width, width)).copy()
    if causal:
        visible &= np.tri(width, dtype=bool)
    scores = np.random.default_rng(seed).random(visible.shape).astype("float32") ** 3 * visible
    return scores / scores.sum(axis=-1, keepdims=True)


def plainly(scores, tokens, segments, causal):
    """The measures of one head on one text, by loops; `scores` is (query, key)."""
    count = len(tokens)
    special = [token in ("[CLS]", "[SEP]") for token in tokens]
    sums = {name: [] for name in MEASURES}

    def of(belongs):
        return [key for key, token in enumerate(tokens) if belongs(token)]

    kinds = {
        "to_separator": of(lambda t: t == "[SEP]"),
        "to_punctuation": of(lambda t: t in ".,!"),
        "to_full_stop": of(lambda t: t == "."),
    }
    for query in range(count):
        row = scores[query, :count].astype("float64")
        seen = query + 1 if causal else count
        entropy = -sum(w * np.log(w) for w in row if w > 0)
        sums["entropy"].append(entropy)
        if seen > 1:
            sums["relative_entropy"].append(entropy / np.log(seen))
        sums["distance"].append(sum(w * abs(query - key) for key, w in enumerate(row)))
        sums["to_start"].append(row[0])
        for name, keys in kinds.items():
            if keys:  # a text that has no such token says nothing about it
                sums[name].append(row[keys].sum())
        sums["to_itself"].append(row[query])
        if query:
            sums["to_previous"].append(row[query - 1])
        if query + 1 < count and not causal:
            sums["to_next"].append(row[query + 1])
        if not special[query] and 1 in segments:
            other = [k for k in range(count) if segments[k] != segments[query] and not special[k]]
            sums["to_other_segment"].append(row[other].sum())
    return [np.mean(sums[name]) if sums[name] else np.nan for name in MEASURES]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rows", [PAIRS, [("a very good film .",), ("bad",)]])
def test_equals_the_definitions_written_out(rows, causal, sharp_bert):
    model = AnalysedModel(*sharp_bert)
    packed = pack_texts(model, rows, 13)
    scores = random_scores(packed, causal)
    found = head_measures(scores, TokenRoles.of(packed), causal)
    assert found.shape == (2, 3, len(MEASURES))
    for row, length in enumerate(packed.lengths):
        ids = packed.features["token_ids"][row, :length]
        tokens = [model.tokenizer.id_to_token(int(number)) for number in ids]
        segments = packed.features["segment_ids"][row, :length].tolist()
        for head in range(3):
            expected = plainly(scores[row, head], tokens, segments, causal)
            np.testing.assert_allclose(found[row, head], expected, atol=1e-5)


def test_uniform_attention_has_all_the_entropy_there_is(sharp_bert):
    packed = pack_texts(AnalysedModel(*sharp_bert), [("a good film",), ("bad",)], 13)
    real = packed.features["padding_mask"][:, None, None, :].astype("float32")
    scores = np.repeat(real / real.sum(axis=-1, keepdims=True), real.shape[-1], axis=2)
    found = head_measures(scores, TokenRoles.of(packed), causal=False)
    np.testing.assert_allclose(found[:, 0, MEASURES.index("relative_entropy")], 1, atol=1e-6)
    np.testing.assert_allclose(found[:, 0, MEASURES.index("entropy")], np.log([5, 3]), atol=1e-6)


def test_roles_of_chinese_and_of_a_language_model(sharp_bert, make_sharp_gpt):
    packed = pack_texts(AnalysedModel(*sharp_bert), [("电影好。",)], 13)
    roles = TokenRoles.of(packed)
    assert roles.full_stop[0, :6].tolist() == [False, False, False, False, True, False]
    assert roles.punctuation[0].sum() == 1 and roles.separator[0, 5]
    alone = TokenRoles.of(pack_texts(AnalysedModel(*make_sharp_gpt()), [("oo, fi.",)], 40))
    assert alone.separator.sum() == 0 and alone.start.sum() == 1
    assert alone.punctuation.sum() == 2 and alone.full_stop.sum() == 1


def test_tokens_that_a_text_lacks_mean_nothing(sharp_bert, make_sharp_gpt):
    names = ("to_separator", "to_punctuation", "to_full_stop")
    columns = [MEASURES.index(name) for name in names]
    for model, rows, lacks in (
        (sharp_bert, [("bad",), ("bad !",), ("bad .",)], [(0, 1, 1), (0, 0, 1), (0, 0, 0)]),
        (make_sharp_gpt(), [("oo",), ("oo.",)], [(1, 1, 1), (1, 0, 0)]),
    ):
        packed = pack_texts(AnalysedModel(*model), rows, 13)
        found = head_measures(random_scores(packed), TokenRoles.of(packed), causal=False)
        np.testing.assert_array_equal(np.isnan(found[:, 1, columns]), np.array(lacks, bool))
