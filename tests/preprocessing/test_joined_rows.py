import numpy as np
import pytest

from kerazoo.preprocessing.causal_lm import CausalLMPreprocessor
from kerazoo.preprocessing.joined_rows import joined_rows


@pytest.mark.parametrize("length", [3, 5, 16, 200])
def test_every_token_but_the_first_is_a_target_once(tiny_bpe_tokenizer, length):
    texts = ["the good", "a", "", "the the good!"]
    preprocessor = CausalLMPreprocessor(tiny_bpe_tokenizer, sequence_length=length)
    end = tiny_bpe_tokenizer.end_token_id
    ids = [token for row in tiny_bpe_tokenizer.tokenize(texts).to_list() for token in [*row, end]]
    rows = joined_rows(preprocessor, texts)
    assert rows.targets.shape == rows.weights.shape == rows.features["token_ids"].shape
    assert rows.targets.shape[1] == length
    real = rows.weights.reshape(-1) > 0
    assert rows.targets.reshape(-1)[real].tolist() == ids[1:]
    assert rows.features["token_ids"].reshape(-1)[real].tolist() == ids[:-1]
    # Padding is in the last row only, and every target of weight 1 stands on a real input.
    assert rows.weights[:-1].all()
    mask = rows.features["padding_mask"]
    assert mask.sum() in (real.sum(), real.sum() + 1)
    assert (mask >= rows.weights).all()


def test_one_token_predicts_nothing(tiny_bpe_tokenizer):
    preprocessor = CausalLMPreprocessor(tiny_bpe_tokenizer, add_end_token=False)
    with pytest.raises(ValueError, match="at least two tokens. Received: 1 texts of 1 tokens"):
        joined_rows(preprocessor, ["x"])


def test_portions_do_not_show(tiny_bpe_tokenizer):
    preprocessor = CausalLMPreprocessor(tiny_bpe_tokenizer, sequence_length=7)
    texts = ["the good"] * 1500
    rows = joined_rows(preprocessor, texts)
    count = len(tiny_bpe_tokenizer.tokenize(["the good"]).to_list()[0]) + 1
    assert np.sum(rows.weights) == 1500 * count - 1
