import numpy as np
from keras import ops
from tiny_extractive_qa import questions, tiny_extractive_qa

from kerazoo.tasks.window_outputs import batches_of_like_length, window_outputs


def test_batches_are_those_of_all_windows_together():
    task = tiny_extractive_qa()
    columns = questions()
    read = task.preprocessor.read(columns["question"], columns["context"], None)
    with task.without_preprocessor():
        expected = task.predict_on_batch({k: read.features[k].numpy() for k in task.input})
    seen = []
    for rows, outputs in window_outputs(task, read.features, 3):
        found = outputs["start_logits"]
        whole = ops.convert_to_numpy(expected["start_logits"])[rows, : found.shape[1]]
        np.testing.assert_allclose(found, whole, atol=1e-4)
        seen += rows.tolist()
    assert sorted(seen) == list(range(len(read.features["token_ids"])))


def test_like_lengths_share_a_batch():
    batches = batches_of_like_length(np.array([9, 2, 17, 3, 8]), 2, 8)
    assert [(rows.tolist(), width) for rows, width in batches] == [
        ([1, 3], 8),
        ([4, 0], 16),
        ([2], 24),
    ]
    assert [width for _, width in batches_of_like_length(np.array([9, 2]), 1, None)] == [None] * 2
