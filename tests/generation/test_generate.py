import numpy as np
import pytest
from keras import ops

from kerazoo.generation.beam_sampler import BeamSampler
from kerazoo.generation.generate import Request, check_fits, generate_ids

PROMPTS = [[5, 9], [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], [30, 20, 10]]


@pytest.fixture(scope="module")
def task(make_tiny_causal_lm):
    """Without XLA, whose compilation takes longer than all that is computed here."""
    task = make_tiny_causal_lm()
    task.compile(jit_compile=False)
    return task


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"max_length": 0}, "`max_length` must be a number above zero"),
        ({"max_new_tokens": -2}, "max_new_tokens=-2"),
        ({"max_new_tokens": 2.5}, "whole number. Received: max_new_tokens=2.5"),
        ({"max_length": 5, "max_new_tokens": 2}, "not both. Received: max_length=5, max_new_t"),
    ],
)
def test_impossible_lengths_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Request(**arguments)


@pytest.mark.slow
def test_each_prompt_gets_as_many_new_tokens(task):
    rows = generate_ids(task, PROMPTS, Request(max_new_tokens=6))
    assert [len(row) for row in rows] == [8, 16, 9]
    assert [row[: len(prompt)] for row, prompt in zip(rows, PROMPTS, strict=True)] == PROMPTS
    alone = [generate_ids(task, [p], Request(max_new_tokens=6))[0] for p in PROMPTS]
    assert alone == rows
    until = generate_ids(task, PROMPTS, Request(max_length=12))
    assert [len(row) for row in until] == [12] * 3
    for row, longer in zip(rows, until, strict=True):
        common = min(len(row), len(longer))
        assert row[:common] == longer[:common]


def test_a_row_ends_with_its_stop_token(task):
    free = generate_ids(task, PROMPTS, Request(max_new_tokens=12))
    stop = free[0][len(PROMPTS[0]) + 4]
    rows = generate_ids(task, PROMPTS, Request(max_new_tokens=12, stop_token_ids=(stop,)))
    for row, whole, prompt in zip(rows, free, PROMPTS, strict=True):
        new = whole[len(prompt) :]
        end = new.index(stop) + 1 if stop in new else len(new)
        assert row == prompt + new[:end]
    # A stop token in the prompt ends nothing.
    (row,) = generate_ids(task, [[stop, 4]], Request(max_new_tokens=1, stop_token_ids=(stop,)))
    assert len(row) == 3


@pytest.mark.slow
def test_a_window_slides_past_the_context(task):
    limit = task.backbone.config.max_sequence_length
    request = Request(max_new_tokens=60, sliding_window=True)
    rows = generate_ids(task, PROMPTS, request)
    assert [len(row) for row in rows] == [len(prompt) + 60 for prompt in PROMPTS]
    alone = [generate_ids(task, [prompt], request)[0] for prompt in PROMPTS]
    assert alone == rows
    within = generate_ids(task, PROMPTS, Request(max_length=limit))
    assert [row[:limit] for row in rows] == within
    # What follows is what the second half of the context gives by itself.
    half = rows[0][limit - limit // 2 : limit]
    after = generate_ids(task, [half], Request(max_length=limit))[0]
    assert rows[0][limit : limit + 10] == after[len(half) : len(half) + 10]


def test_the_context_limit_is_told_before_any_work(task):
    with pytest.raises(
        ValueError, match="has 37 positions.*Received: 42 tokens, 2 of them in prompt 0"
    ):
        generate_ids(task, PROMPTS, Request(max_new_tokens=40))
    with pytest.raises(ValueError, match="Prompt 1 leaves no room.*Received: 10 tokens"):
        generate_ids(task, PROMPTS, Request(max_length=10))
    check_fits(PROMPTS, [37, 37, 37], 37)


def test_ids_that_stand_on_padding_change_nothing(task):
    ids = np.array([[5, 9, 0, 0, 0, 0, 0], [5, 9, 7, 7, 7, 7, 7]], "int32")
    mask = np.array([[1, 1, 0, 0, 0, 0, 0]] * 2, "int32")
    with task.without_preprocessor():
        output = task.generate({"token_ids": ids, "padding_mask": mask}, stop_token_ids=None)
    assert output["token_ids"].shape == (2, 7)
    assert output["token_ids"][0].tolist() == output["token_ids"][1].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["greedy", "beam", "contrastive"])
def test_a_stop_token_of_id_0_ends_nothing_before_it_comes(make_tiny_causal_lm, sampler):
    task = make_tiny_causal_lm()
    task.compile(sampler=sampler, jit_compile=False)
    request = Request(max_new_tokens=3, stop_token_ids=(0, 1))
    for row, prompt in zip(generate_ids(task, PROMPTS, request), PROMPTS, strict=True):
        new = row[len(prompt) :]
        assert len(new) == 3 or new[-1] in (0, 1)
        assert new


@pytest.mark.slow_on_jax
def test_a_beam_search_ends_where_the_text_ends(make_tiny_causal_lm):
    """With a beam for each token two tokens are the best two, whatever would come after them."""
    task = make_tiny_causal_lm()
    task.compile(sampler=BeamSampler(264), jit_compile=False)
    prompt = [30, 20, 10]

    def log_probabilities(rows):
        rows = np.array(rows)
        logits = task({"token_ids": rows, "padding_mask": np.ones_like(rows)})[:, -1]
        return ops.convert_to_numpy(ops.log_softmax(logits))

    first = log_probabilities([prompt])[0]
    second = log_probabilities([[*prompt, token] for token in range(264)])
    best = np.unravel_index((first[:, None] + second).argmax(), (264, 264))
    found = generate_ids(task, [prompt, PROMPTS[1]], Request(max_new_tokens=2))
    assert found[0] == [*prompt, *map(int, best)]
    assert generate_ids(task, [prompt], Request(max_new_tokens=2))[0] == found[0]


@pytest.mark.slow
@pytest.mark.parametrize("stop_token_ids", [None, tuple(range(40, 60))])
def test_beams_of_unequal_prompts_are_those_of_each_alone(make_tiny_causal_lm, stop_token_ids):
    task = make_tiny_causal_lm()
    task.compile(sampler="beam", jit_compile=False)
    random = np.random.default_rng(3)
    prompts = [random.integers(264, size=length).tolist() for length in (1, 12, 17)]
    for new in (4, 13):
        request = Request(max_new_tokens=new, stop_token_ids=stop_token_ids)
        together = generate_ids(task, prompts, request)
        assert [generate_ids(task, [prompt], request)[0] for prompt in prompts] == together
