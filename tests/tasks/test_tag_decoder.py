"""Tags and entities of texts against a plain loop over words, from random logits."""

import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_extractive_qa import tiny_tokenizer
from tiny_token_classifier import LABELS, TEXTS, WORDS

from kerazoo.layers.crf import CRF
from kerazoo.metrics.entity_spans import entity_spans
from kerazoo.preprocessing.tag_targets import TagTable
from kerazoo.preprocessing.tagged_windows import tagged_windows
from kerazoo.tasks.tag_decoder import TagDecoder

TABLE = TagTable.of(LABELS)


def make_crf():
    crf = CRF(len(LABELS))
    crf.build((None, None, len(LABELS)))
    generator = np.random.default_rng(5)
    for weight in crf.weights:
        weight.assign(generator.normal(size=weight.shape).astype("float32"))
    return crf


def softmax(logits):
    exponents = np.exp(logits - logits.max(-1, keepdims=True))
    return exponents / exponents.sum(-1, keepdims=True)


@pytest.mark.slow
@pytest.mark.parametrize("with_crf", [False, True])
@pytest.mark.parametrize("given", [{"texts": TEXTS}, {"words": tf.ragged.constant(WORDS)}])
def test_tags_and_entities_equal_a_loop(given, with_crf):
    windows = tagged_windows(tiny_tokenizer(), 13, 4, **given)
    shape = (*windows.features["token_ids"].shape, len(LABELS))
    logits = np.random.default_rng(3).normal(size=shape).astype("float32") * 2
    crf = make_crf() if with_crf else None
    decoded = TagDecoder(TABLE, crf).decode(tf.constant(logits), windows)
    tokens = np.concatenate([[0], np.cumsum(windows.token_count.numpy())])
    for row, text in enumerate(windows.texts.numpy()):
        first_token = windows.words.first_token[row].numpy()
        visible = np.flatnonzero(first_token >= 0)
        places = windows.places(tf.constant(tokens[row] + first_token[visible], tf.int32)).numpy()
        scores = logits[places[:, 0], places[:, 1]].reshape(-1, len(LABELS))
        if with_crf and len(visible):
            mask = np.ones((1, len(visible)), "int32")
            best = ops.convert_to_numpy(crf.decode(scores[None], mask)[0])[0]
            probabilities = ops.convert_to_numpy(crf.marginals(scores[None], mask))[0]
        else:
            best, probabilities = scores.argmax(-1), softmax(scores)
        tags = decoded.tags[row].numpy()
        np.testing.assert_array_equal(tags[visible], best)
        assert set(np.delete(tags, visible)) <= {-1}
        spans = entity_spans([LABELS[tag] for tag in best])
        heads = [visible[span.first] for span in spans]
        assert np.flatnonzero(decoded.begins[row].numpy()).tolist() == heads
        starts, ends = (v[row].numpy()[visible] for v in (windows.words.starts, windows.words.ends))
        characters = text.decode()
        assert len(decoded.entity_types[row]) == len(spans)
        for number, (kind, first, behind) in enumerate(spans):
            start, end = starts[first], ends[behind - 1]
            assert decoded.entity_starts[row][number] == start
            assert decoded.entity_ends[row][number] == end
            assert decoded.entity_texts[row][number].numpy().decode() == characters[start:end]
            assert TABLE.types[decoded.entity_types[row][number]] == kind
            mean = np.mean([probabilities[w, best[w]] for w in range(first, behind)])
            assert decoded.entity_scores[row][number].numpy() == pytest.approx(mean, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("with_crf", [False, True])
def test_no_texts_have_no_entities(with_crf):
    windows = tagged_windows(tiny_tokenizer(), 13, 4, texts=tf.constant([], tf.string))
    crf = make_crf() if with_crf else None
    decoded = TagDecoder(TABLE, crf).decode(np.zeros((0, 13, len(LABELS)), "float32"), windows)
    assert decoded.tags.to_list() == decoded.entity_texts.to_list() == []
    blank = tagged_windows(tiny_tokenizer(), 13, 4, texts=["", " "])
    decoded = TagDecoder(TABLE, crf).decode(np.zeros((2, 13, len(LABELS)), "float32"), blank)
    assert decoded.entity_types.to_list() == [[], []]


@pytest.mark.parametrize(("stride", "shift"), [(4, 0), (4, 3), (11, 5), (None, 2)])
def test_of_a_long_text_an_oracle_finds_each_entity_once_at_its_place(stride, shift):
    """1,500 tokens; entities across every kind of edge of a window, at the front and at the end."""
    entity = (["Ada", "cats", "came"], ["B-PER", "I-PER", "I-PER"])
    words, tags = list(entity[0]), list(entity[1])
    for number in range(100):
        between = 9 + (number + shift) % 6
        words += [*["the", "cats", "with"] * 5][:between] + entity[0]
        tags += ["O"] * between + entity[1]
    windows = tagged_windows(tiny_tokenizer(), 13, stride, words=tf.ragged.constant([words]))
    assert int(windows.token_count[0]) > 1500
    word_of_token = windows.words.word_of_token[0].numpy()
    firsts, lengths = windows.windows.first.numpy(), windows.windows.length.numpy()
    logits = np.zeros((*windows.features["token_ids"].shape, len(LABELS)), "float32")
    for row, (first, length) in enumerate(zip(firsts, lengths, strict=True)):
        for position in range(length):
            logits[row, 1 + position, LABELS.index(tags[word_of_token[first + position]])] = 9
    decoded = TagDecoder(TABLE).decode(tf.constant(logits), windows)
    text = " ".join(words)
    starts = [at for at in range(len(text)) if text.startswith("Ada cats came", at)]
    assert len(starts) == 101
    assert decoded.entity_starts[0].numpy().tolist() == starts
    assert set(decoded.entity_texts[0].numpy()) == {b"Ada cats came"}
    assert [LABELS[tag] for tag in decoded.tags[0].numpy()] == tags
