"""The decoding in the graph against a plain rewrite of it, on random logits."""

import itertools

import numpy as np
import pytest
import tensorflow as tf
from tiny_extractive_qa import ROWS, questions, tiny_tokenizer

from kerazoo.preprocessing.passage_windows import passage_windows
from kerazoo.tasks.span_decoder import SpanDecoder

MANY = [*ROWS, ("who?", "", None), ("who?", " ", None), ("who " * 13, "ada came", None)]


def passages_of(rows=MANY, tokenizer=None, **options):
    columns = questions(rows)
    return passage_windows(
        tokenizer or tiny_tokenizer(), columns["question"], columns["context"], 16, 5, **options
    )


def random_logits(passages, seed):
    random = np.random.default_rng(seed)
    shape = passages.features["token_ids"].shape
    return [random.normal(size=shape).astype("float32") * 3 for _ in range(2)]


def decoded_by_hand(start_logits, end_logits, passages, decoder):
    """Per question: the candidates in order, each (score, start, end), and the null score."""
    found = []
    of_row, firsts, lengths = (
        getattr(passages.windows, name).numpy() for name in ("document", "first", "length")
    )
    begins, null_positions = passages.begin.numpy(), passages.null_position.numpy()
    for document in range(len(passages.contexts)):
        rows = np.flatnonzero(of_row == document)
        starts, ends = passages.starts[document].numpy(), passages.ends[document].numpy()
        spans, nulls = [], []
        for row in rows:
            null, begin, first = null_positions[row], begins[row], firsts[row]
            nulls.append(start_logits[row, null] + end_logits[row, null])
            inside = np.arange(begin, begin + lengths[row])
            candidates = []
            for i, j in itertools.product(inside, inside):
                if not i <= j < i + decoder.max_answer_length:
                    continue
                a, b = i - begin + first, j - begin + first
                contexts = {r: min(a - firsts[r], firsts[r] + lengths[r] - 1 - b) for r in rows}
                if max(contexts, key=lambda r: (contexts[r], -r)) == row:
                    score = start_logits[row, i] + end_logits[row, j]
                    candidates.append((score, int(starts[a]), int(ends[b])))
            candidates.sort(key=lambda span: -span[0])
            spans += candidates[: decoder.n_best]
        spans.sort(key=lambda span: -span[0])
        found.append((spans[: decoder.n_best], min(nulls)))
    return found


@pytest.mark.parametrize(
    ("decoder", "seed", "null_at_end"),
    [
        (SpanDecoder(), 0, False),
        (SpanDecoder(n_best=3, max_answer_length=2), 1, False),
        (SpanDecoder(n_best=7, max_answer_length=4, no_answer_threshold=-1.5), 2, False),
        (SpanDecoder(n_best=7, max_answer_length=4, no_answer_threshold=-1.5), 3, True),
        (SpanDecoder(n_best=4, no_answer_threshold=2.5), 4, True),
    ],
)
def test_it_equals_a_plain_rewrite(decoder, seed, null_at_end):
    passages = passages_of(null_at_end=null_at_end)
    logits = random_logits(passages, seed)
    outputs = {k: v.numpy() for k, v in decoder.decode(*logits, passages, top_k=3).items()}
    expected = decoded_by_hand(*logits, passages, decoder)
    for row, (spans, null) in enumerate(expected):
        context = MANY[row][1]
        if not passages.fits[row]:
            spans, null = [], None
        ranked = [(score, start, end, context[start:end]) for score, start, end in spans]
        difference = 1e30
        if spans:
            difference = null - spans[0][0]
            assert outputs["no_answer_score"][row] == pytest.approx(difference, abs=1e-4)
        chosen = ranked[0] if ranked else None
        if decoder.no_answer_threshold is not None and null is not None:
            nothing = (null, 0, 0, "")
            ranked.append(nothing)
            chosen = nothing if difference > decoder.no_answer_threshold else chosen
        ranked.sort(key=lambda entry: -entry[0])
        total = sum(np.exp(entry[0]) for entry in ranked)
        _check_row(outputs, row, chosen, ranked[:3], total)


def _check_row(outputs, row, chosen, ranked, total):
    score, start, end, answer = chosen or (None, 0, 0, "")
    assert outputs["answer"][row].decode() == answer
    assert (outputs["start"][row], outputs["end"][row]) == (start, end)
    probability = 0 if score is None else np.exp(score) / total
    assert outputs["score"][row] == pytest.approx(probability, rel=1e-4)
    for rank in range(3):
        score, start, end, answer = ranked[rank] if rank < len(ranked) else (None, 0, 0, "")
        assert outputs["n_best_answers"][row, rank].decode() == answer
        assert outputs["n_best_starts"][row, rank] == start
        assert outputs["n_best_ends"][row, rank] == end
        probability = 0 if score is None else np.exp(score) / total
        assert outputs["n_best_scores"][row, rank] == pytest.approx(probability, rel=1e-4)


def test_answers_lie_in_the_passage_whatever_the_logits():
    rows = [MANY[i % len(ROWS)] for i in range(200)]
    passages = passages_of(rows)
    outputs = SpanDecoder().decode(*random_logits(passages, 1), passages, top_k=20)
    starts, ends = outputs["n_best_starts"].numpy(), outputs["n_best_ends"].numpy()
    is_span = outputs["n_best_scores"].numpy() > 0
    assert is_span.sum() > 2000
    assert (starts < ends)[is_span].all()
    for row, (_, context, _) in enumerate(rows):
        assert (ends[row] <= len(context)).all()
        slices = [context[s:e] for s, e in zip(starts[row], ends[row], strict=True)]
        assert [a.decode() for a in outputs["n_best_answers"][row].numpy()] == slices
        real = [(s, e) for s, e in zip(starts[row], ends[row], strict=True) if e]
        assert len(set(real)) == len(real)  # no span twice
    np.testing.assert_allclose(outputs["n_best_scores"].numpy().sum(axis=1), 1, atol=1e-5)


def test_a_row_does_not_depend_on_the_others():
    together = passages_of()
    logits = random_logits(together, 2)
    expected = SpanDecoder().decode(*logits, together, top_k=2)
    for row in (1, 3, 6):
        alone = passages_of([MANY[row]])
        chosen = together.windows.document.numpy() == row
        part = [values[chosen] for values in logits]
        for key, value in SpanDecoder().decode(*part, alone, top_k=2).items():
            np.testing.assert_allclose(
                *(
                    v.numpy() if v.dtype != tf.string else v.numpy() == b""
                    for v in (value[0], expected[key][row])
                ),
                rtol=1e-5,
            )


def test_characters_of_several_tokens_are_never_cut(tiny_bpe_tokenizer):
    """Each Han character is three bytes and three tokens here."""
    rows = [("a", "小明和", None), ("a", "a", None), ("a", "a", None)]
    passages = passages_of(rows, tiny_bpe_tokenizer.with_task_tokens(), null_at_end=True)
    outputs = SpanDecoder().decode(*random_logits(passages, 3), passages, top_k=12)
    found = [a.decode() for a in outputs["n_best_answers"][0].numpy() if a]
    assert sorted(found) == sorted(["小", "明", "和", "小明", "明和", "小明和"])
    # Two passages of one token each, with the same offsets.
    assert outputs["answer"].numpy().tolist()[1:] == [b"a", b"a"]


def test_no_answer_begins_or_ends_with_a_space(tiny_bpe_tokenizer):
    """A space belongs to the word after it here, and some tokens are spaces."""
    rows = [("a", " the good \n  the", None), ("a", "the the", None), ("a", "  ", None)]
    tokenizer = tiny_bpe_tokenizer.with_task_tokens()
    passages = passages_of(rows, tokenizer, null_at_end=True)
    outputs = SpanDecoder().decode(*random_logits(passages, 3), passages, top_k=20)
    for row, (_, context, _) in enumerate(rows):
        found = [a.decode() for a in outputs["n_best_answers"][row].numpy() if a]
        assert len(set(found)) > 2 or not context.strip()
        assert all(answer == answer.strip() for answer in found)
    assert not any(outputs["n_best_answers"][2].numpy())
    answers = outputs["n_best_answers"][1].numpy().tolist()
    assert {b"the", b"the the"} <= set(answers)


def test_no_questions_have_no_answers():
    passages = passages_of([])
    logits = [np.zeros((0, 16), "float32")] * 2
    outputs = SpanDecoder(no_answer_threshold=0.0).decode(*logits, passages, top_k=4)
    assert outputs["n_best_answers"].shape == (0, 4)
    assert outputs["answer"].shape == (0,)


def test_wrong_numbers_are_refused():
    with pytest.raises(ValueError, match="above zero.*n_best=0"):
        SpanDecoder(n_best=0)
    with pytest.raises(ValueError, match="max_answer_length=-1"):
        SpanDecoder(max_answer_length=-1)
    for top_k in (0, 21, True, 1.5):
        with pytest.raises(ValueError, match="from 1 to 20"):
            SpanDecoder().check_top_k(top_k)
