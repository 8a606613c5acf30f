"""What one task of pre-training takes from another one's preset."""

import numpy as np
import pytest
from keras import ops

import kerazoo
from kerazoo.tasks.shared_heads import load_shared_heads


def heads_of(task):
    return {
        weight.path: ops.convert_to_numpy(weight)
        for weight in task.weights
        if weight.path.startswith(("masked_lm", "next_sentence", "classifier"))
    }


def common(left, right):
    """The paths of both, all of them with equal values."""
    paths = left.keys() & right.keys()
    for path in paths:
        np.testing.assert_array_equal(left[path], right[path], err_msg=path)
    return paths


@pytest.fixture(scope="module")
def presets(
    make_tiny_bert_pretrainer, make_tiny_masked_lm, make_tiny_text_classifier, tmp_path_factory
):
    """Folders and tasks by name; biases are not zero, so that a new head shows."""
    made = {}
    for name, make in (
        ("pretrainer", make_tiny_bert_pretrainer),
        ("masked_lm", make_tiny_masked_lm),
        ("classifier", make_tiny_text_classifier),
    ):
        task = make()
        for weight in task.weights:
            if weight.path.startswith(("masked_lm", "next_sentence")):
                weight.assign(np.random.default_rng(3).normal(size=weight.shape))
        folder = tmp_path_factory.mktemp("presets") / name
        task.save_to_preset(folder)
        made[name] = folder, task
    return made


def test_each_task_takes_its_head_from_a_pretrainer(presets):
    folder, pretrainer = presets["pretrainer"]
    heads = heads_of(pretrainer)
    assert len(heads) == 7
    masked_lm = kerazoo.MaskedLM.from_preset(folder)
    assert len(common(heads_of(masked_lm), heads)) == len(heads_of(masked_lm)) == 5
    next_sentence = kerazoo.NextSentencePredictor.from_preset(folder)
    assert len(common(heads_of(next_sentence), heads)) == len(heads_of(next_sentence)) == 2
    assert type(masked_lm.preprocessor) is kerazoo.MaskedLMPreprocessor


def test_a_pretrainer_takes_what_a_masked_lm_has(presets):
    folder, masked_lm = presets["masked_lm"]
    pretrainer = kerazoo.BertPretrainer.from_preset(folder)
    heads = heads_of(pretrainer)
    assert len(common({k: v for k, v in heads.items() if "masked" in k}, heads_of(masked_lm))) == 5
    assert not heads["next_sentence/bias"].any()  # new


def test_a_classifier_takes_the_backbone_alone(presets):
    for name in ("pretrainer", "masked_lm"):
        folder, task = presets[name]
        classifier = kerazoo.TextClassifier.from_preset(folder, labels=["next", "random"])
        assert set(heads_of(classifier)) == {"classifier/kernel", "classifier/bias"}
        for mine, theirs in zip(classifier.backbone.weights, task.backbone.weights, strict=True):
            np.testing.assert_array_equal(
                ops.convert_to_numpy(mine), ops.convert_to_numpy(theirs), err_msg=mine.path
            )


def test_a_classifiers_head_is_no_next_sentence_head(presets):
    folder, _ = presets["classifier"]
    task = kerazoo.NextSentencePredictor.from_preset(folder)
    assert not heads_of(task)["next_sentence/bias"].any()


def test_a_backbone_alone_has_no_heads(make_tiny_masked_lm, tiny_backbone, tmp_path):
    tiny_backbone.save_to_preset(tmp_path)
    task = make_tiny_masked_lm()
    before = heads_of(task)
    load_shared_heads(task, tmp_path)
    assert len(common(heads_of(task), before)) == 5
