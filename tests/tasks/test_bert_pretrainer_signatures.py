import numpy as np
import pytest
import tensorflow as tf

import kerazoo
from kerazoo.export.verify import verify_saved_model

pytestmark = pytest.mark.tensorflow


@pytest.mark.slow
def test_masks_and_pairs_are_served(make_tiny_bert_pretrainer, tmp_path):
    task = make_tiny_bert_pretrainer()
    version = task.export(tmp_path / "pretrainer")
    report = verify_saved_model(version)
    assert report.ok, str(report)
    assert set(report.signatures) == {"serving_default", "features", "next_sentence"}
    served = tf.saved_model.load(str(version)).signatures
    answers = served["serving_default"](text=tf.constant(["a [MASK] film"]))
    assert (
        answers["filled_text"].numpy()[0].decode() == task.fill_mask("a [MASK] film")[0][0]["text"]
    )

    first, second = ["a good film", "bad"], ["the play was very good", "not"]
    judged = served["next_sentence"](text=tf.constant(first), text_pair=tf.constant(second))
    preprocessor = kerazoo.TextClassifierPreprocessor(
        task.preprocessor.tokenizer, sequence_length=15
    )
    same = kerazoo.NextSentencePredictor(task.backbone, preprocessor=preprocessor)
    for mine, theirs in zip(same.classifier.weights, task.next_sentence_head.weights, strict=True):
        mine.assign(theirs)
    for row, answer in enumerate(same.classify((first, second))):
        assert judged["label"].numpy()[row].decode() == answer["label"]
        np.testing.assert_allclose(
            judged["probabilities"].numpy()[row], list(answer["probabilities"].values()), atol=1e-5
        )
