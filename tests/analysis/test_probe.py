import numpy as np
import pytest

from kerazoo.analysis.probe import ProbeSettings, run_probe

NOUNS, VERBS = ["film", "play", "影"], ["was", "is", "not"]


@pytest.fixture(scope="module")
def sentences():
    """60 sentences whose words are nouns and verbs."""
    generator = np.random.default_rng(0)
    words = [generator.choice([*NOUNS, *VERBS], size=5).tolist() for _ in range(60)]
    return words, [["N" if word in NOUNS else "V" for word in row] for row in words]


@pytest.fixture(scope="module")
def of_words(sharp_bert, sentences, tmp_path_factory):
    backbone, tokenizer = sharp_bert
    cache = tmp_path_factory.mktemp("cache")
    settings = ProbeSettings(seeds=(0, 5))
    options = {"settings": settings, "cache": cache, "batch_size": 60}
    result = run_probe(backbone, sentences, tokenizer=tokenizer, **options)
    return result, cache


def test_classes_of_words_are_read_off_the_embeddings(of_words):
    result, _ = of_words
    assert result.accuracy.shape == (2, 4) and result.examples == 300
    assert (result.accuracy[:, 0] > 0.99).all()
    assert (result.random[:, 0] > 0.99).all()  # six words: any embedding tells them apart
    assert (0.4 < result.majority).all() and (result.majority < 0.7).all()
    # Six words that have one label each are memorised: nothing is selective here.
    assert (result.control[:, 0] > 0.99).all()
    np.testing.assert_allclose(result.selectivity, result.accuracy - result.control)
    np.testing.assert_allclose(result.mix_weights.sum(axis=1), 1)
    assert (result.mix_accuracy > 0.95).all() and result.pooling == "first"


def test_states_are_kept_for_the_model_and_each_random_one(of_words):
    _, cache = of_words
    assert len(list(cache.glob("states-*"))) == 3


def test_random_labels_of_texts_cannot_be_learnt(sharp_bert):
    backbone, tokenizer = sharp_bert
    generator = np.random.default_rng(1)
    texts = [" ".join(generator.choice([*NOUNS, *VERBS], size=7)) for _ in range(150)]
    labels = ["film" if text.split()[0] == "film" else "other" for text in texts]
    result = run_probe(
        backbone,
        (texts, labels),
        level="sequence",
        tokenizer=tokenizer,
        pooling="mean",
        settings=ProbeSettings(seeds=(2,)),
        batch_size=120,
        max_rows=120,
    )
    assert result.examples == 120 and result.accuracy.shape == (1, 4)
    assert result.labels == ["film", "other"]
    assert (result.accuracy.max(axis=1) >= result.majority).all()
    # Each text has one label of its own, so that nothing can be remembered of it.
    assert (result.control <= result.majority + 0.05).all()


def test_a_causal_model_is_read_at_the_last_token(make_sharp_gpt):
    backbone, tokenizer = make_sharp_gpt()
    texts = ["the oo", "a fi"] * 9
    result = run_probe(
        backbone,
        (texts, ["x", "y"] * 9),
        level="sequence",
        tokenizer=tokenizer,
        settings=ProbeSettings(seeds=(0,)),
    )
    assert result.pooling == "last" and result.accuracy.max() == 1.0


def test_words_behind_the_limit_are_counted_and_their_labels_are_not(sharp_bert):
    backbone, tokenizer = sharp_bert
    words, tags = [["film", "was", "bad"]] * 7, [["N", "V", "A"]] * 7
    result = run_probe(
        backbone,
        (words, tags),
        tokenizer=tokenizer,
        settings=ProbeSettings(seeds=(0,)),
        sequence_length=4,
    )
    assert result.labels == ["N", "V"] and result.examples == 14
    assert result.left_out == 7 and result.sequence_length == 4
    with pytest.raises(ValueError, match="two or more. 14 words lie behind 3 tokens"):
        run_probe(backbone, (words, tags), tokenizer=tokenizer, sequence_length=3)


def test_rows_that_cannot_be_split_are_told_before_the_model_is_looked_for(tmp_path):
    with pytest.raises(ValueError, match="one sentence cannot be split"):
        run_probe(tmp_path / "no model", ([["a", "b"]], [["x", "y"]]))


@pytest.mark.parametrize("fraction", [0, 1, 1.5, float("nan")])
def test_a_test_fraction_is_a_share(fraction):
    with pytest.raises(ValueError, match="`test_fraction` must be .*Received: test_fraction="):
        ProbeSettings(test_fraction=fraction)


def test_wrong_settings_are_refused(sharp_bert):
    with pytest.raises(ValueError, match=r"seeds=\(1, 1\)"):
        ProbeSettings(seeds=(1, 1))
    with pytest.raises(ValueError, match="pooling='cls'"):
        data = (["a", "b"] * 2, ["x", "y"] * 2)
        run_probe(sharp_bert[0], data, "sequence", sharp_bert[1], pooling="cls")
