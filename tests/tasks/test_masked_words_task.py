import numpy as np
import pytest

import kerazoo


def test_each_mask_gets_tokens_scores_and_positions(tiny_masked_lm):
    text = "电影 was [MASK] and [MASK]!"
    masks = tiny_masked_lm.fill_mask(text, top_k=3)
    assert [len(mask) for mask in masks] == [3, 3]
    for mask, position in zip(masks, (7, 18), strict=True):
        assert {candidate["position"] for candidate in mask} == {position}
        assert text[position:].startswith("[MASK]")
        scores = [candidate["score"] for candidate in mask]
        assert scores == sorted(scores, reverse=True)
        assert 0 < sum(scores) < 1
    assert masks[0][0]["text"] == masks[1][0]["text"]
    assert all("[MASK]" not in c["text"] and "was" in c["text"] for m in masks for c in m)


@pytest.mark.slow_on_jax
def test_a_list_gives_a_list_and_batches_change_nothing(tiny_masked_lm):
    texts = ["a [MASK] film", "[MASK]", "the [MASK] [MASK] was [MASK]", "[MASK] good"]
    together = tiny_masked_lm.fill_mask(texts, top_k=2)
    assert [len(masks) for masks in together] == [1, 1, 3, 1]
    for text, expected in zip(texts, together, strict=True):
        for mine, theirs in zip(tiny_masked_lm.fill_mask(text, 2), expected, strict=True):
            assert [c["token"] for c in mine] == [c["token"] for c in theirs]
            np.testing.assert_allclose(
                [c["score"] for c in mine], [c["score"] for c in theirs], rtol=1e-4
            )
    assert tiny_masked_lm.fill_mask([]) == []


@pytest.mark.slow_on_jax
def test_answers_for_json_say_the_same(tiny_masked_lm):
    texts = ["a [MASK] film", "the [MASK] [MASK]"]
    answers = tiny_masked_lm.mask_answers({"text": texts}, top_k=2, batch_size=1)
    for answer, masks in zip(answers, tiny_masked_lm.fill_mask(texts, top_k=2), strict=True):
        assert answer["filled_text"] == masks[0][0]["text"]
        assert [mask["tokens"] for mask in answer["masks"]] == [
            [candidate["token"] for candidate in mask] for mask in masks
        ]


def test_the_mask_is_the_tokenizers_and_rows_may_be_shorter(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    assert len(task.fill_mask("a " * 11 + "[MASK]")) == 1
    task.preprocessor.sequence_length = 9
    with pytest.raises(ValueError, match="behind the 9 tokens that are read"):
        task.fill_mask("a " * 11 + "[MASK]")


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ("no mask", {}, r"Row 0: the text has no \[MASK\].*Received: text='no mask'"),
        (["[MASK]", "[mask]"], {"batch_size": 1}, "Row 1: the text has no .*'\\[mask\\]'"),
        ("[MASK]", {"top_k": 0}, "top_k=0"),
        ("[MASK]", {"top_k": 100}, "26 entries.*top_k=100"),
        (["[MASK]"], {"batch_size": 0}, "batch_size=0"),
    ],
)
def test_what_cannot_be_filled_is_told(tiny_masked_lm, texts, options, message):
    with pytest.raises(ValueError, match=message):
        tiny_masked_lm.fill_mask(texts, **options)


def test_without_a_tokenizer(make_tiny_backbone):
    with pytest.raises(ValueError, match="Received: preprocessor=None"):
        kerazoo.MaskedLM(make_tiny_backbone()).fill_mask("[MASK]")


def test_a_backbone_without_its_embedding_is_refused(make_tiny_backbone):
    import keras

    inputs = keras.Input((None,), dtype="int32", name="token_ids")
    states = keras.layers.Embedding(31, 12)(inputs)
    with pytest.raises(ValueError, match="no `token_embedding`"):
        kerazoo.MaskedLM(keras.Model({"token_ids": inputs}, states))
