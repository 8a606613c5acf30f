import numpy as np
import pytest
import tensorflow as tf

from kerazoo.generation.generate import Request, generate_ids
from kerazoo.generation.row_sampling import RowSettings
from kerazoo.generation.served_generation import continue_rows

pytestmark = pytest.mark.tensorflow

PROMPTS = [[5, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [30, 20, 10]]
COUNTS = [9, 4, 12]
LONGEST = 36


@pytest.fixture(scope="module")
def task(make_tiny_causal_lm):
    task = make_tiny_causal_lm()
    task.compile(jit_compile=False)
    return task


@pytest.fixture(scope="module")
def served(task):
    """`continue_rows` traced as an export traces it; returns lists of ids."""

    @tf.function(jit_compile=False)
    def graph(flat, lengths, counts, temperature, top_k, top_p, seeds, end):
        return continue_rows(
            task.backbone,
            tf.RaggedTensor.from_row_lengths(flat, lengths),
            counts,
            RowSettings(temperature, top_k, top_p),
            seeds,
            end_token_id=end,
            longest=LONGEST,
        )

    def call(prompts, counts, settings=None, seeds=None, end=None):
        rows = len(prompts)
        temperature, top_k, top_p = zip(*(settings or [(0.0, 0, 1.0)] * rows), strict=True)
        return graph(
            tf.constant([token for prompt in prompts for token in prompt], tf.int32),
            tf.constant([len(prompt) for prompt in prompts], tf.int64),
            tf.constant(counts, tf.int32),
            tf.constant(temperature, tf.float32),
            tf.constant(top_k, tf.int32),
            tf.constant(top_p, tf.float32),
            tf.constant(seeds or [0] * rows, tf.int32),
            end,
        ).to_list()

    return call


def greedy(task, prompt, count, stop=None):
    request = Request(max_new_tokens=count, stop_token_ids=None if stop is None else (stop,))
    return generate_ids(task, [prompt], request)[0][len(prompt) :]


def test_greedy_rows_equal_generate(task, served):
    found = served(PROMPTS, COUNTS)
    assert [len(row) for row in found] == COUNTS
    assert found == [greedy(task, p, n) for p, n in zip(PROMPTS, COUNTS, strict=True)]


@pytest.mark.slow
def test_a_row_stops_at_the_end_token_which_is_left_out(task, served):
    end = greedy(task, PROMPTS[0], 9)[4]
    found = served(PROMPTS, COUNTS, end=end)
    for row, prompt, count in zip(found, PROMPTS, COUNTS, strict=True):
        assert row == [t for t in greedy(task, prompt, count, end) if t != end]
    assert len(found[0]) <= 4


SETTINGS = [(1.0, 0, 1.0), (0.0, 0, 1.0), (1.5, 7, 0.9)]


@pytest.mark.slow
def test_neighbours_change_nothing(served):
    seeds = [11, 12, 13]
    together = served(PROMPTS, COUNTS, SETTINGS, seeds)
    for row in range(3):
        alone = served([PROMPTS[row]], [COUNTS[row]], [SETTINGS[row]], [seeds[row]])
        assert alone == [together[row]]


def test_seeds_reproduce_and_differ(served):
    draw = [(1.0, 0, 1.0)] * 3
    first = served(PROMPTS, COUNTS, draw, [1, 2, 3])
    assert served(PROMPTS, COUNTS, draw, [1, 2, 3]) == first
    other = served(PROMPTS, COUNTS, draw, [4, 5, 6])
    assert all(a != b for a, b in zip(first, other, strict=True))


def test_the_first_token_is_drawn_from_the_models_distribution(task, served):
    prompt = PROMPTS[2]
    rows = 400
    found = served([prompt] * rows, [1] * rows, [(2.0, 3, 1.0)] * rows, list(range(rows)))
    row = np.array([prompt])
    logits = task({"token_ids": row, "padding_mask": np.ones_like(row)}).numpy()[0, -1] / 2.0
    best = np.argsort(-logits)[:3]
    expected = np.exp(logits[best] - logits[best].max())
    expected /= expected.sum()
    share = np.array([sum(r == [token] for r in found) / rows for token in best])
    assert share.sum() == pytest.approx(1)
    np.testing.assert_allclose(share, expected, atol=4 * np.sqrt(0.25 / rows))
