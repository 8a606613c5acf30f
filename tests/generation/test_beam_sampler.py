import itertools

import keras_nlp
import numpy as np
import pytest
from keras import ops

from kerazoo.generation.beam_sampler import BeamSampler

VOCABULARY = 7
STOP = 5


@pytest.fixture(scope="module")
def table():
    return make_table(3)


def make_table(seed):
    """Log probabilities of the next token after each pair of tokens: a Markov chain."""
    random = np.random.default_rng(seed)
    logits = random.normal(size=(VOCABULARY, VOCABULARY, VOCABULARY)).astype("float32") * 2
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def next_of(table):
    """What a sampler calls: the next token depends on the two before it, and on nothing else."""

    def next_token(prompt, cache, index):
        before = ops.take(prompt, ops.reshape(index - 2, (1,)), axis=1)[:, 0]
        last = ops.take(prompt, ops.reshape(index - 1, (1,)), axis=1)[:, 0]
        rows = ops.reshape(ops.convert_to_tensor(table), (-1, VOCABULARY))
        return ops.take(rows, before * VOCABULARY + last, axis=0), None, cache

    return next_token


def search(table, prompts, length, stop_token_ids=None, make=BeamSampler, **arguments):
    ids = np.zeros((len(prompts), length), "int32")
    mask = np.zeros((len(prompts), length), bool)
    for row, prompt in enumerate(prompts):
        ids[row, : len(prompt)] = prompt
        mask[row, : len(prompt)] = True
    sampler = make(**arguments)
    return sampler(
        next=next_of(table),
        prompt=ops.convert_to_tensor(ids),
        index=min(map(len, prompts)),
        mask=ops.convert_to_tensor(mask),
        stop_token_ids=stop_token_ids,
    )


def log_probability(table, text, begin):
    return sum(table[text[i - 2], text[i - 1], text[i]] for i in range(begin, len(text)))


def test_enough_beams_find_the_best_of_all_texts(table):
    prompt, new = [1, 4], 3
    best = max(
        itertools.product(range(VOCABULARY), repeat=new),
        key=lambda tail: log_probability(table, [*prompt, *tail], 2),
    )
    found = ops.convert_to_numpy(search(table, [prompt], 5, num_beams=VOCABULARY**2))
    assert found[0].tolist() == [*prompt, *best]


def test_all_beams_come_with_their_log_probabilities_best_first(table):
    texts, scores = search(table, [[1, 4]], 6, num_beams=3, return_all_beams=True)
    texts, scores = ops.convert_to_numpy(texts), ops.convert_to_numpy(scores)
    assert texts.shape == (1, 3, 6)
    assert len({tuple(text) for text in texts[0]}) == 3
    assert scores[0].tolist() == sorted(scores[0], reverse=True)
    expected = [log_probability(table, text, 2) for text in texts[0]]
    np.testing.assert_allclose(scores[0], expected, rtol=1e-5)


PROMPTS = [[1, 4], [2, 0, 6, 3, 1, 1, 0], [3, 3, 2, 4]]


def depends_on_neighbours(make, seed, stop_token_ids):
    """Whether a prompt of `PROMPTS` gets another text in the batch than alone."""
    table = make_table(seed)

    def texts(prompts):
        found = search(table, prompts, 12, stop_token_ids, make=make, num_beams=4)
        return ops.convert_to_numpy(found)

    together = texts(PROMPTS)
    assert all(together[row, : len(p)].tolist() == p for row, p in enumerate(PROMPTS))
    for row, prompt in enumerate(PROMPTS):
        alone = texts([prompt])[0]
        until = text_end(alone, len(prompt), stop_token_ids)
        if together[row, :until].tolist() != alone[:until].tolist():
            return True
    return False


@pytest.mark.parametrize(
    "stop_token_ids",
    [pytest.param(None, id="no stop", marks=pytest.mark.slow), pytest.param([STOP], id="stop")],
)
def test_a_prompt_gets_the_same_text_alone_and_in_a_batch(stop_token_ids):
    assert not any(depends_on_neighbours(BeamSampler, n, stop_token_ids) for n in range(6))


@pytest.mark.slow
@pytest.mark.parametrize("stop_token_ids", [None, [STOP]], ids=["no stop", "stop"])
def test_kerashubs_own_sampler_has_the_fault(stop_token_ids):
    """If this fails, KerasHub has mended it, and ours may go."""
    kerashubs = keras_nlp.samplers.BeamSampler
    assert any(depends_on_neighbours(kerashubs, n, stop_token_ids) for n in range(6))


def text_end(text, begin, stop_token_ids):
    for position in range(begin, len(text)):
        if text[position] in (stop_token_ids or ()):
            return position + 1
    return len(text)


def test_a_stopped_beam_keeps_its_score(table):
    texts, scores = search(table, [[1, 4]], 12, [STOP], num_beams=6, return_all_beams=True)
    texts, scores = ops.convert_to_numpy(texts)[0], ops.convert_to_numpy(scores)[0]
    ends = [text_end(text, 2, [STOP]) for text in texts]
    assert min(ends) < 12
    for text, end, score in zip(texts, ends, scores, strict=True):
        assert score == pytest.approx(log_probability(table, text[:end], 2), rel=1e-4)


def test_no_beams_are_refused():
    with pytest.raises(ValueError, match="num_beams=0"):
        BeamSampler(num_beams=0)
