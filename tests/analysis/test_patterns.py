import csv
import json

import numpy as np
import pytest

from kerazoo.analysis.attention import attention_maps
from kerazoo.analysis.head_measures import MEASURES
from kerazoo.analysis.patterns import HeadPatterns, head_patterns

TEXTS = ["the film was very good , not dull !", "bad play", "a great film is a great film ."]


@pytest.fixture(scope="module")
def patterns(sharp_bert):
    backbone, tokenizer = sharp_bert
    return head_patterns(backbone, TEXTS, tokenizer=tokenizer, batch_size=2)


def test_entropy_is_that_of_the_maps(patterns, sharp_bert):
    backbone, tokenizer = sharp_bert
    entropies = []
    for attention in attention_maps(backbone, TEXTS, tokenizer=tokenizer):
        weights = attention.weights.astype("float64")
        entropies.append(-(weights * np.log(weights)).sum(axis=-1).mean(axis=-1))
    column = MEASURES.index("entropy")
    np.testing.assert_allclose(patterns.mean[:, :, column], np.mean(entropies, axis=0), atol=1e-4)
    layers = np.mean(entropies, axis=0).mean(axis=-1)
    np.testing.assert_allclose(patterns.layer_mean[:, column], layers, atol=1e-4)
    assert patterns.texts == 3


def test_the_size_of_batches_changes_nothing(patterns, sharp_bert):
    one = head_patterns(sharp_bert[0], TEXTS, tokenizer=sharp_bert[1], batch_size=1)
    np.testing.assert_allclose(one.mean, patterns.mean, atol=1e-5)
    np.testing.assert_allclose(one.half_width, patterns.half_width, atol=1e-4)


def test_a_causal_model_has_no_next_token(make_sharp_gpt):
    backbone, tokenizer = make_sharp_gpt()
    found = head_patterns(backbone, ["the fifth oo", "a fi"], tokenizer=tokenizer)
    shares = found.mean[:, :, MEASURES.index("relative_entropy")]
    assert ((shares > 0) & (shares <= 1)).all()
    assert np.isnan(found.mean[:, :, MEASURES.index("to_next")]).all()
    assert next(found.rows())["to_next"] is None


def test_a_corpus_is_read_from_its_file(sharp_bert, tmp_path):
    corpus = tmp_path / "corpus.tsv"
    rows = ["the film\tgood", " \tbad", "a play\tnot very good", "bad\tdull"]
    corpus.write_text("\n".join(["text\ttext_pair", *rows]) + "\n")
    backbone, tokenizer = sharp_bert
    found = head_patterns(backbone, corpus, tokenizer=tokenizer, sequence_length=7)
    assert (found.texts, found.empty, found.truncated) == (3, 1, 1)
    assert not np.isnan(found.mean[:, :, MEASURES.index("to_other_segment")]).any()
    some = head_patterns(backbone, corpus, tokenizer=tokenizer, max_texts=2)
    assert some.texts == 2


def test_a_text_without_a_token_is_an_empty_one(sharp_bert, make_sharp_gpt, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("a film\n\u200b\nbad\n", encoding="utf-8")
    found = head_patterns(sharp_bert[0], corpus, tokenizer=sharp_bert[1], batch_size=2)
    alone = head_patterns(sharp_bert[0], ["a film", "bad"], tokenizer=sharp_bert[1])
    assert (found.texts, found.empty) == (2, 1)
    np.testing.assert_allclose(found.mean, alone.mean, atol=1e-5)
    one_by_one = head_patterns(sharp_bert[0], corpus, tokenizer=sharp_bert[1], batch_size=1)
    assert (one_by_one.texts, one_by_one.empty) == (2, 1)
    with pytest.raises(ValueError, match="no text to look at"):
        head_patterns(sharp_bert[0], ["\u200b"], tokenizer=sharp_bert[1])


def test_texts_without_full_stops_stay_out_of_its_mean(sharp_bert):
    column = MEASURES.index("to_full_stop")
    alone, both, none = (
        head_patterns(sharp_bert[0], texts, tokenizer=sharp_bert[1])
        for texts in (["a film ."], ["a film .", "bad"], ["bad"])
    )
    np.testing.assert_allclose(both.mean[..., column], alone.mean[..., column], atol=1e-5)
    assert np.isnan(none.mean[..., column]).all()


def test_no_text_is_told(sharp_bert, tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n\n")
    with pytest.raises(ValueError, match="no text to look at"):
        head_patterns(sharp_bert[0], corpus, tokenizer=sharp_bert[1])


def test_the_table_as_csv_and_json(patterns, tmp_path):
    patterns.write_table(tmp_path / "heads.csv")
    patterns.write_table(tmp_path / "heads.json")
    with (tmp_path / "heads.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    content = json.loads((tmp_path / "heads.json").read_text())
    assert len(rows) == len(content["heads"]) == 3 * 4
    assert (rows[5]["layer"], rows[5]["head"]) == ("2", "2")
    column = MEASURES.index("distance")
    assert float(rows[5]["distance"]) == content["heads"][5]["distance"]
    assert content["heads"][5]["distance"] == patterns.mean[1, 1, column]
    assert float(rows[5]["distance_low"]) < float(rows[5]["distance"])
    assert rows[0]["to_other_segment"] == "" and content["heads"][0]["to_other_segment"] is None
    assert len(content["layers"]) == 3 and content["texts"] == 3


def test_another_ending_is_refused(patterns, tmp_path):
    with pytest.raises(ValueError, match=".csv or a .json file"):
        patterns.write_table(tmp_path / "heads.xls")
    assert not list(tmp_path.iterdir())


def test_one_text_has_no_interval():
    zeros = np.zeros((1, 2, len(MEASURES)))
    found = HeadPatterns(zeros, zeros * np.nan, zeros[:, 0], zeros[:, 0] * np.nan, texts=1)
    assert next(found.rows())["entropy_low"] is None


@pytest.mark.slow
@pytest.mark.real_data
def test_entropies_of_minilm():
    """The values of 64 BBC texts, 128 tokens each."""
    from real_data import bbc_news_articles, minilm_folder

    articles = bbc_news_articles()
    texts = [text for _, text in articles[:: len(articles) // 64]][:64]
    found = head_patterns(minilm_folder(), texts, sequence_length=128)
    entropies = found.layer_mean[:, MEASURES.index("entropy")]
    np.testing.assert_allclose(entropies, [3.87, 2.34, 2.39, 2.78, 2.67, 3.83], atol=0.05)
