import numpy as np
import pytest
from keras import ops
from tiny_extractive_qa import ROWS, make_tiny_extractive_qa, questions, tiny_extractive_qa

from kerazoo.tasks.passage_reader import PassageReader
from kerazoo.tasks.question_columns import question_columns


def test_logits_of_batches_are_those_of_all_windows_together():
    task = tiny_extractive_qa()
    columns = question_columns(questions())
    passages = task.preprocessor.read(columns["question"], columns["context"], None)
    with task.without_preprocessor():
        expected = task.predict_on_batch({k: passages.features[k].numpy() for k in task.input})
    for batch_size in (2, 5, 64):
        found = PassageReader(task)._logits(passages, batch_size)
        for logits, key in zip(found, ("start_logits", "end_logits"), strict=True):
            np.testing.assert_allclose(
                logits.numpy(), ops.convert_to_numpy(expected[key]), atol=1e-4
            )


def test_answers_do_not_depend_on_the_batch():
    task = tiny_extractive_qa()
    columns = question_columns(questions([*ROWS] * 4))
    answers = PassageReader(task).answers(columns, task.decoder(), 5, batch_size=2)
    assert [a["answer"] for a in answers] == [a["answer"] for a in answers[:6]] * 4
    assert len({a["answer"] for a in answers}) > 3


def test_a_task_without_a_tokenizer_is_refused():
    task = make_tiny_extractive_qa()
    with task.without_preprocessor(), pytest.raises(ValueError, match="preprocessor=None"):
        PassageReader(task)
