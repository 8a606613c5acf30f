import numpy as np
import pytest
import tensorflow as tf

from kerazoo.preprocessing.mask_reader import MaskReader
from kerazoo.tasks.mask_filler import MaskFiller, filled_texts

TEXTS = ["the [MASK] was [MASK]!", "电[MASK]", "good"]
ROWS = 33  # two more than the vocabulary has entries


@pytest.fixture(scope="module")
def filler(tiny_tokenizer):
    return MaskFiller(tiny_tokenizer, ROWS)


@pytest.fixture(scope="module")
def read(tiny_tokenizer):
    return MaskReader(tiny_tokenizer, 13).read(TEXTS, masks=3)


@pytest.fixture(scope="module")
def logits():
    return np.random.default_rng(8).normal(0, 2, (3, 3, ROWS)).astype("float32")


def test_answers_against_numpy(filler, read, logits, tiny_vocabulary, tiny_tokenizer):
    answers = {name: value.numpy() for name, value in filler.answers(logits, read, 4).items()}
    probabilities = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    probabilities[..., 31:] = -1
    probabilities[..., tiny_tokenizer.special_token_ids] = -1
    for row, count in enumerate([2, 1, 0]):
        for mask in range(3):
            best = np.argsort(-probabilities[row, mask])[:4]
            tokens = [token.decode() for token in answers["tokens"][row, mask]]
            if mask < count:
                assert tokens == [tiny_vocabulary[number] for number in best]
                np.testing.assert_allclose(
                    answers["scores"][row, mask], probabilities[row, mask, best], rtol=1e-5
                )
            else:
                assert tokens == [""] * 4
                assert answers["scores"][row, mask].tolist() == [0.0] * 4
    assert answers["positions"].tolist() == [[4, 15, -1], [1, -1, -1], [-1, -1, -1]]
    assert answers["mask_count"].tolist() == [2, 1, 0]
    first, second = (answers["tokens"][0, mask, 0].decode() for mask in (0, 1))
    expected = f"the {first} was {second}!".replace(" ##", "")
    assert answers["filled_text"][0].decode() == expected
    assert answers["filled_text"][2] == b"good"


def test_specials_and_rows_without_an_entry_are_never_chosen(filler, read, tiny_tokenizer):
    logits = np.zeros((3, 3, ROWS), "float32")
    logits[..., tiny_tokenizer.special_token_ids] = 50.0
    logits[..., 31:] = 60.0
    ids, _, scores = filler.best(logits, 26)
    assert filler.candidates == 26
    assert sorted(ids[0, 0].numpy()) == sorted(set(range(31)) - {0, 1, 2, 3, 4})
    assert 0 <= scores.numpy().max() < 1e-20  # the share of the whole vocabulary


def test_candidates_fill_their_own_mask_alone(filler, read, logits):
    answers = filler.answers(logits, read, 2)
    texts = filler.candidate_texts(read, answers["tokens"]).numpy()
    tokens = np.char.decode(answers["tokens"].numpy().astype("S"))
    for rank in range(2):
        for mask in range(2):
            chosen = [tokens[0, 0, 0], tokens[0, 1, 0]]
            chosen[mask] = tokens[0, mask, rank]
            expected = f"the {chosen[0]} was {chosen[1]}!".replace(" ##", "")
            assert texts[0, mask, rank].decode() == expected
    assert texts[0, 0, 0] == texts[0, 1, 0] == answers["filled_text"][0].numpy()


@pytest.mark.parametrize(
    ("text", "spans", "tokens", "filled"),
    [
        ("a _ c", [(2, 3)], ["b"], "a b c"),
        ("play  _.", [(6, 7)], ["##ed"], "played."),
        ("_ c", [(0, 1)], ["##ed"], "ed c"),
        ("电_好", [(1, 2)], ["影"], "电影好"),
        ("_", [(0, 1)], ["##"], "##"),
        ("__", [(0, 1), (1, 2)], ["pl", "##ay"], "play"),
        ("_ \t_", [(0, 1), (3, 4)], ["pl", "##ay"], "play"),
        ("\U0001f600_", [(1, 2)], [r"\1"], "\U0001f600" + r"\1"),
    ],
)
def test_filled_texts(text, spans, tokens, filled):
    size = len(text)
    padded = [*spans, (size, size)]  # an unused slot
    starts, ends = np.array(padded, "int32").T[:, None, :]
    result = filled_texts(tf.constant([text]), starts, ends, tf.constant([[*tokens, ""]]))
    assert result.numpy()[0].decode() == filled


@pytest.mark.parametrize(
    ("top_k", "message"), [(0, "top_k=0"), (True, "top_k=True"), (27, "26 entries.*top_k=27")]
)
def test_top_k_is_checked(filler, top_k, message):
    with pytest.raises(ValueError, match=message):
        filler.check_top_k(top_k)
    filler.check_top_k(26)
