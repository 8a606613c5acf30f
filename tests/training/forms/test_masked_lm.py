import math

import pytest

from kerazoo.data.table import Table
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.forms.masked_lm import MaskedLMForm
from kerazoo.training.preset_predictor import PresetPredictor

FORM = MaskedLMForm()
TEXTS = ["a good film", "the play was dull", "电影 好", "bad"]


def table():
    return Table("a.txt", {"text": list(TEXTS)}, [1, 2, 3, 4])


def test_loss_perplexity_and_accuracy_are_measured_on_frozen_masks(tiny_masked_lm):
    predictor = PresetPredictor(tiny_masked_lm)
    metrics = FORM.measure(predictor, table(), batch_size=3)
    assert FORM.measure(predictor, table(), batch_size=3) == metrics
    measured = tiny_masked_lm.evaluate(TEXTS, batch_size=3, verbose=0, return_dict=True)
    assert metrics == {
        "rows": 4,
        "loss": pytest.approx(math.log(measured["perplexity"]), rel=1e-6),
        "perplexity": pytest.approx(measured["perplexity"], rel=1e-6),
        "accuracy": pytest.approx(measured["accuracy"]),
    }
    assert FORM.summary(metrics).startswith(f"masked accuracy {metrics['accuracy']:.4f}, perp")


def test_how_texts_are_masked_goes_to_the_task():
    config = FinetuneConfig(masking="whole_word")
    assert FORM.task_arguments(table(), config) == {"masking": "whole_word"}


def test_an_exported_model_masks_nothing():
    with pytest.raises(ValueError, match="Masked words are measured on a preset"):
        FORM.measure(object(), table(), 2)
