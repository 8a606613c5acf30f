import numpy as np
import pytest
from keras import ops

import kerazoo

FIRST = ["a good film", "the play was dull!", "bad", "电影 好"]
SECOND = ["very good.", "the film", "not bad", "影 差"]
NAMES = ["next", "random", "random", "next"]


@pytest.fixture(scope="module")
def make(make_tiny_backbone, tiny_tokenizer):
    def make(**arguments):
        preprocessor = kerazoo.TextClassifierPreprocessor(tiny_tokenizer, sequence_length=11)
        backbone = make_tiny_backbone(initializer_range=0.3)
        return kerazoo.NextSentencePredictor(backbone, preprocessor=preprocessor, **arguments)

    return make


@pytest.fixture(scope="module")
def task(make):
    return make()


def test_class_zero_is_next_and_logits_are_those_of_the_pooled_vector(task):
    features = {k: ops.convert_to_tensor(v) for k, v in task.preprocessor((FIRST, SECOND)).items()}
    pooled = ops.convert_to_numpy(task.backbone(features)["pooled_output"])
    weights = {weight.path: ops.convert_to_numpy(weight) for weight in task.weights}
    logits = pooled @ weights["next_sentence/kernel"] + weights["next_sentence/bias"]
    np.testing.assert_allclose(task.predict((FIRST, SECOND), verbose=0), logits, atol=1e-5)
    for answer, row in zip(task.classify((FIRST, SECOND)), logits, strict=True):
        assert answer["label"] == ["next", "random"][row.argmax()]
        assert list(answer["probabilities"]) == ["next", "random"]
    assert task.dropout == 0


@pytest.mark.slow
def test_it_trains_and_a_preset_keeps_it(make, tmp_path):
    task = make()
    task.fit((FIRST, SECOND), NAMES, epochs=2, verbose=0)
    task.save_to_preset(tmp_path)
    copy = kerazoo.NextSentencePredictor.from_preset(tmp_path)
    expected = task.predict((FIRST, SECOND), verbose=0)
    np.testing.assert_allclose(copy.predict((FIRST, SECOND), verbose=0), expected, atol=1e-6)
    renamed = kerazoo.NextSentencePredictor.from_preset(tmp_path, labels=["yes", "no"])
    np.testing.assert_allclose(renamed.predict((FIRST, SECOND), verbose=0), expected, atol=1e-6)
    assert renamed.classify((FIRST[:1], SECOND[:1]))[0]["label"] in ("yes", "no")


def test_a_causal_backbone_reads_pairs_too():
    from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

    preprocessor = kerazoo.TextClassifierPreprocessor(tiny_byte_tokenizer(), sequence_length=39)
    task = kerazoo.NextSentencePredictor(tiny_gpt(), preprocessor=preprocessor, lm_loss_weight=0.0)
    assert np.isfinite(task.fit((FIRST, SECOND), NAMES, verbose=0).history["loss"]).all()


def test_what_does_not_fit_is_refused(make, task):
    with pytest.raises(ValueError, match="two classes.*labels=.'a', 'b', 'c'."):
        make(labels=["a", "b", "c"])
    with pytest.raises(ValueError, match=r"reads two texts.*keys=\['text'\]"):
        task.fit(FIRST, NAMES)
    with pytest.raises(TypeError, match="activation"):
        make(activation="softmax")
