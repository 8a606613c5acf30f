import keras_nlp
import pytest

from kerazoo.generation.generate import Request, generate_ids
from kerazoo.generation.stream import can_stream, stream_ids, stream_texts


@pytest.fixture(scope="module")
def task(make_tiny_causal_lm):
    task = make_tiny_causal_lm()
    task.compile(jit_compile=False)
    return task


def test_the_stream_equals_generate(task):
    prompt = [5, 9, 30]
    whole = generate_ids(task, [prompt], Request(max_new_tokens=9))[0]
    assert list(stream_ids(task, prompt, 9, None)) == whole[3:]
    stop = whole[3 + 5]
    streamed = list(stream_ids(task, prompt, 9, (stop,)))
    assert streamed == whole[3 : 3 + whole[3:].index(stop)]


def test_the_first_token_comes_before_the_last_is_computed(task):
    tokens = stream_ids(task, [5, 9], 30, None)
    first = next(tokens)
    assert isinstance(first, int)
    tokens.close()


def test_pieces_are_whole_characters_and_make_up_the_text(task, monkeypatch):
    (ids,) = task.preprocessor.prompt_ids(["电影 good 🎉"])
    monkeypatch.setattr("kerazoo.generation.stream.stream_ids", lambda *arguments: iter(ids))
    pieces = list(stream_texts(task, [1], 50, None))
    assert "".join(pieces) == "电影 good 🎉"
    assert pieces[:2] == ["电", "影"]
    # A text that ends within a character shows that it does.
    monkeypatch.setattr("kerazoo.generation.stream.stream_ids", lambda *arguments: iter(ids[:-1]))
    assert "".join(stream_texts(task, [1], 50, None)) == "电影 good \ufffd"


def test_searches_cannot_be_streamed(task):
    assert can_stream(task)
    task.compile(sampler=keras_nlp.samplers.TopKSampler(3, seed=1))
    assert can_stream(task)
    for search in ("beam", "contrastive"):
        task.compile(sampler=search, jit_compile=False)
        assert not can_stream(task)
    task.compile(jit_compile=False)
