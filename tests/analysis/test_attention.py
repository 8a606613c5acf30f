import json
import weakref

import keras
import numpy as np
import pytest

from kerazoo.analysis.attention import attention_maps

ENGLISH = ["the film was very good , not dull !", "bad play", "a great film is a great film ."]


def maps(model, texts, **options):
    backbone, tokenizer = model
    return list(attention_maps(backbone, texts, tokenizer=tokenizer, **options))


def test_every_text_has_its_tokens_and_weights(sharp_bert):
    found = maps(sharp_bert, ENGLISH, batch_size=2)
    assert [m.texts for m in found] == [(text,) for text in ENGLISH]
    assert found[1].tokens == ["[CLS]", "bad", "play", "[SEP]"]
    assert found[1].offsets.tolist() == [[-1, -1], [0, 3], [4, 8], [-1, -1]]
    assert found[1].weights.shape == (3, 4, 4, 4)
    for attention in found:
        length = len(attention.tokens)
        assert attention.weights.shape[-2:] == (length, length)
        np.testing.assert_allclose(attention.weights.sum(axis=-1), 1, atol=1e-6)
        assert attention.weights.std() > 0.05  # not uniform


def test_a_map_as_json(sharp_bert):
    (attention,) = maps(sharp_bert, "电影好")
    content = json.loads(json.dumps(attention.as_dict(), ensure_ascii=False))
    assert content["texts"] == ["电影好"] and content["offsets"][1] == [0, 1]
    np.testing.assert_allclose(content["weights"], attention.weights, atol=6e-7)


def test_padding_changes_nothing(sharp_bert):
    together = maps(sharp_bert, ENGLISH, batch_size=3)
    for text, attention in zip(ENGLISH, together, strict=True):
        (alone,) = maps(sharp_bert, text)
        np.testing.assert_allclose(alone.weights, attention.weights, atol=1e-5)


def test_weights_are_the_backbones_own(sharp_bert):
    backbone, _ = sharp_bert
    (attention,) = maps(sharp_bert, ENGLISH[0])
    length = len(attention.tokens)
    ones = np.ones((1, length), "int32")
    inputs = {"token_ids": attention.token_ids[None], "segment_ids": 0 * ones, "padding_mask": ones}
    for layer, scores in enumerate(backbone.attention_scores(inputs)):
        scores = keras.ops.convert_to_numpy(scores)
        np.testing.assert_allclose(attention.weights[layer], scores[0], atol=1e-5)


def test_a_causal_model_sees_nothing_later(make_sharp_gpt):
    (attention,) = maps(make_sharp_gpt(), "the fifth oo a")
    later = np.triu(np.ones(attention.weights.shape[-2:], bool), k=1)
    assert (attention.weights[..., later] == 0).all()
    np.testing.assert_allclose(attention.weights.sum(axis=-1), 1, atol=1e-6)


def test_a_pair(sharp_bert):
    (attention,) = maps(sharp_bert, (["a good film"], ["Not bad"]))
    assert attention.segment_ids.tolist() == [0, 0, 0, 0, 0, 1, 1, 1]
    start, end = attention.offsets[5]
    assert attention.texts[1][start:end] == "Not"


def test_a_task_and_a_folder_give_the_same(tiny_text_classifier, tmp_path):
    (of_task,) = attention_maps(tiny_text_classifier, "good film")
    tiny_text_classifier.save_to_preset(tmp_path / "preset")
    (of_folder,) = attention_maps(tmp_path / "preset", "good film")
    np.testing.assert_allclose(of_task.weights, of_folder.weights, atol=1e-6)


def test_a_text_longer_than_the_model_is_told_before_anything_runs(sharp_bert):
    backbone, tokenizer = sharp_bert
    texts = ["good", "good " * 12]
    with pytest.raises(ValueError, match="Text 1 has 14 tokens, and the model reads at most 13"):
        attention_maps(backbone, texts, tokenizer=tokenizer)
    cut = maps(sharp_bert, texts, sequence_length=7)
    assert [len(attention.tokens) for attention in cut] == [3, 7]
    with pytest.raises(ValueError, match="at most 13 tokens. Received: sequence_length=14"):
        attention_maps(backbone, texts, tokenizer=tokenizer, sequence_length=14)


def test_a_text_without_a_token_is_told(sharp_bert):
    backbone, tokenizer = sharp_bert
    for options in ({}, {"sequence_length": 7}):
        with pytest.raises(ValueError, match="No token is left of text 1.*u200b"):
            attention_maps(backbone, ["good", "\u200b"], tokenizer=tokenizer, **options)
        with pytest.raises(ValueError, match="No token is left of the text_pair of text 0"):
            attention_maps(backbone, (["good"], ["\u200b"]), tokenizer=tokenizer, **options)


def test_batches_are_computed_when_they_are_asked_for(sharp_bert, monkeypatch):
    backbone, tokenizer = sharp_bert
    calls = []
    original = backbone.attention_by_layer
    monkeypatch.setattr(
        type(backbone),
        "attention_by_layer",
        lambda self, *inputs: calls.append(1) or original(*inputs),
    )
    found = attention_maps(backbone, ["good"] * 9, tokenizer=tokenizer, batch_size=2)
    assert calls == []
    next(found)
    assert len(calls) == 1


def test_one_batch_of_weights_is_in_memory(sharp_bert):
    backbone, tokenizer = sharp_bert
    alive = []
    for attention in attention_maps(backbone, ["good"] * 11, tokenizer=tokenizer, batch_size=2):
        alive = [ref for ref in [*alive, weakref.ref(attention.weights)] if ref() is not None]
        assert len(alive) <= 3  # the batch at hand, and what the caller still holds


@pytest.mark.transformers
@pytest.mark.parametrize("kind", ["bert", "gpt-1", "gpt-2"])
def test_equals_transformers(kind, sharp_bert, make_sharp_gpt, tmp_path):
    import torch
    import transformers

    texts = ENGLISH
    if kind == "bert":
        model = sharp_bert
    else:
        model = make_sharp_gpt(normalize_first=kind == "gpt-2")
        texts = ["the fifth oo a fi", "fi", "The end."]
    model[0].export_to_transformers(tmp_path / "model")
    theirs = transformers.AutoModel.from_pretrained(
        tmp_path / "model", attn_implementation="eager"
    ).eval()
    for attention in maps(model, texts):
        ids = torch.tensor(attention.token_ids[None].astype("int64"))
        with torch.no_grad():
            expected = theirs(input_ids=ids, output_attentions=True).attentions
        np.testing.assert_allclose(
            attention.weights, np.concatenate([layer.numpy() for layer in expected]), atol=1e-5
        )


@pytest.mark.slow
@pytest.mark.transformers
@pytest.mark.real_data
def test_minilm_equals_transformers():
    import torch
    import transformers
    from real_data import minilm_folder

    folder = minilm_folder()
    texts = ["Shares rose after the bank's results.", "The striker scored twice on Sunday, 3-1."]
    model = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for text, attention in zip(texts, attention_maps(folder, texts), strict=True):
        batch = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
        offsets = batch.pop("offset_mapping")[0].numpy()
        assert attention.tokens == tokenizer.convert_ids_to_tokens(batch["input_ids"][0])
        np.testing.assert_array_equal(attention.offsets[1:-1], offsets[1:-1])
        with torch.no_grad():
            expected = model(**batch, output_attentions=True).attentions
        np.testing.assert_allclose(
            attention.weights, np.concatenate([layer.numpy() for layer in expected]), atol=1e-5
        )
