import numpy as np
import pytest
from keras import ops
from tiny_token_classifier import (
    LABELS,
    TEXTS,
    WORDS,
    make_tiny_token_classifier,
    tiny_token_classifier,
)

from kerazoo.tasks.tagged_columns import tagged_columns
from kerazoo.tasks.word_tagger import WordTagger, repaired_tags


def test_logits_of_batches_are_those_of_all_windows_together():
    task = tiny_token_classifier()
    windows = task.preprocessor.read({"text": TEXTS}, None)
    with task.without_preprocessor():
        expected = task.predict_on_batch({k: windows.features[k].numpy() for k in task.input})
    real = windows.features["padding_mask"].numpy() == 1
    found = WordTagger(task)._logits(windows, 3).numpy()
    np.testing.assert_allclose(found[real], ops.convert_to_numpy(expected)[real], atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("crf", [False, True])
def test_answers_do_not_depend_on_the_batch(crf):
    task = tiny_token_classifier(crf)
    rows, decoder = (TEXTS if crf else WORDS), task.decoder()
    answers = WordTagger(task).answers(tagged_columns([*rows] * 4), decoder, 2)
    alone = WordTagger(task).answers(tagged_columns(rows), decoder, 64)
    assert [a["tags"] for a in answers] == [a["tags"] for a in alone] * 4
    assert [a["words"] for a in alone][0][-2:] == ["Monday", "."]


def test_tags_begin_with_b_wherever_an_entity_begins():
    numbers = [LABELS.index(tag) for tag in ("I-PER", "I-PER", "O", "B-LOC", "I-PER", "I-LOC")]
    begins = [True, False, False, True, True, True]
    expected = ["B-PER", "I-PER", "O", "B-LOC", "B-PER", "B-LOC"]
    assert repaired_tags(numbers, begins, LABELS) == expected
    # Words of which nothing is left to the model: within an entity, behind one, at the end.
    assert repaired_tags([3, -1, -1, 4, -1, 0, -1], [True, *[False] * 6], LABELS) == [
        "B-LOC",
        "I-LOC",
        "I-LOC",
        "I-LOC",
        "O",
        "O",
        "O",
    ]
    assert repaired_tags([1, -1, 1], [True, False, True], ["O", "NOUN"]) == ["NOUN", "O", "NOUN"]
    bioes = ["O", "B-A", "E-A"]
    assert repaired_tags([1, -1, 2], [True, False, False], bioes) == ["B-A", "I-A", "E-A"]


def test_a_task_without_a_tokenizer_is_refused():
    task = make_tiny_token_classifier()
    with task.without_preprocessor(), pytest.raises(ValueError, match="preprocessor=None"):
        WordTagger(task)
