import pytest

from kerazoo.tasks.fill_mask import FillMask


def test_it_suits_the_preprocessor_it_was_made_for(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    filling = FillMask(task)
    assert filling.suits(task.preprocessor)
    assert not filling.suits(None)
    task.preprocessor.sequence_length = 8
    assert not filling.suits(task.preprocessor)


def test_the_preprocessor_is_back_after_a_failure(make_tiny_masked_lm):
    task = make_tiny_masked_lm()
    preprocessor = task.preprocessor

    def fail(outputs):
        raise RuntimeError("no logits")

    task.masked_lm_logits = fail
    with pytest.raises(RuntimeError, match="no logits"):
        FillMask(task).answers(["[MASK]"], 1, 4)
    assert task.preprocessor is preprocessor
