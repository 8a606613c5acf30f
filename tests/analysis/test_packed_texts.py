from pathlib import Path

import numpy as np
import pytest

from kerazoo.analysis.analysed_model import AnalysedModel
from kerazoo.analysis.packed_texts import pack_texts, text_rows


def test_forms_of_texts():
    assert text_rows("a") == [("a",)]
    assert text_rows(["a", "b", "c"]) == [("a",), ("b",), ("c",)]
    assert text_rows((["a", "b"], ["c", "d"])) == [("a", "c"), ("b", "d")]
    assert text_rows({"text_pair": ["c"], "text": ["a"]}) == [("a", "c")]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([], "at least one text"),
        (["a", " \n"], "Text 1 is empty"),
        ((["a", "b"], ["c", ""]), "The text_pair of text 1 is empty.* Received: text_pair=''"),
        ((["a", ""], ["c", "d"]), "Text 1 is empty.* Received: text=''"),
        ((["a"], ["b", "c"]), "Received: lists of 1, 2 texts"),
        ({"texts": ["a"]}, "keys=.'texts'"),
        ((["a"], ["b"], ["c"]), "Received: lists of 1, 1, 1 texts"),
    ],
)
def test_what_is_no_text_is_refused(texts, message):
    with pytest.raises(ValueError, match=message):
        text_rows(texts)


def test_a_number_is_no_text():
    with pytest.raises(TypeError, match="Text 1 is no string. Received: text=7"):
        text_rows(["a", 7])


@pytest.mark.parametrize("texts", [None, 5, b"abc", Path("corpus.txt")])
def test_what_is_no_texts_is_refused(texts):
    with pytest.raises(TypeError, match="a string, a list, a pair.* Received: texts="):
        text_rows(texts)


def test_each_position_knows_its_characters(sharp_bert):
    packed = pack_texts(AnalysedModel(*sharp_bert), text_rows(["The  films!", "电影好"]), 13)
    assert packed.slices(0) == ["", "The", "film", "s", "!", ""]
    assert packed.slices(1) == ["", "电", "影", "好", ""]
    assert packed.lengths.tolist() == [6, 5]
    assert (packed.starts[1, 5:] == -1).all() and packed.starts[0, 0] == -1


def test_the_characters_of_a_pair_are_those_of_its_own_text(sharp_bert):
    packed = pack_texts(AnalysedModel(*sharp_bert), [("a good film", "Not good")], 13)
    assert packed.slices(0) == ["", "a", "good", "film", "", "Not", "good", ""]
    assert packed.features["segment_ids"][0, :8].tolist() == [0, 0, 0, 0, 0, 1, 1, 1]


def test_a_cut_pair_keeps_ids_and_characters_together(sharp_bert):
    backbone, tokenizer = sharp_bert
    packed = pack_texts(AnalysedModel(backbone, tokenizer), [("a good film !", "not bad")], 8)
    ids = packed.features["token_ids"][0]
    words = packed.slices(0)
    assert words == ["", "a", "good", "film", "", "not", "bad", ""]
    found = [tokenizer.id_to_token(int(i)) for i in ids]
    assert found == ["[CLS]", "a", "good", "film", "[SEP]", "not", "bad", "[SEP]"]
    assert packed.token_counts.tolist() == [9]


def test_a_language_model_reads_the_text_alone(make_sharp_gpt):
    model = AnalysedModel(*make_sharp_gpt())
    packed = pack_texts(model, [("the fi",), ("oo",)], 40)
    assert packed.slices(0) == ["the", "", "fi"]  # the space is a token of its own
    assert packed.slices(1) == ["oo"]
    assert packed.features["padding_mask"].sum(axis=1).tolist() == [3, 1]
    cut = pack_texts(model, [("the fi",), ("oo",)], 2)
    assert cut.features["token_ids"].shape == (2, 2)
    assert cut.token_counts.tolist() == [3, 1]
    np.testing.assert_array_equal(cut.features["token_ids"], packed.features["token_ids"][:, :2])


def test_gpt_with_task_tokens_reads_pairs(make_sharp_gpt):
    model = AnalysedModel(*make_sharp_gpt(task_tokens=True))
    packed = pack_texts(model, [("the", "oo!")], 40)
    ids = packed.features["token_ids"][0, : packed.lengths[0]]
    assert [model.tokenizer.id_to_token(int(i)) for i in ids] == [
        "<s>", "the", "$", "oo", "!", "<e>",
    ]  # fmt: skip
    assert packed.slices(0) == ["", "the", "", "oo", "!", ""]


def test_a_language_model_reads_no_pairs(make_sharp_gpt):
    with pytest.raises(ValueError, match="A language model reads single texts"):
        pack_texts(AnalysedModel(*make_sharp_gpt()), [("the", "oo")], 40)
