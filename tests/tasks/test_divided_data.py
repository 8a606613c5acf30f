import keras
import numpy as np
import pytest
import tensorflow as tf
from batches_of_tasks import crf_tags, plain_classes, ready

from kerazoo.data.data_server import DataServer
from kerazoo.data.data_service import DataService
from kerazoo.tasks.divided_data import _own_parts, divided
from kerazoo.tasks.shared_batches import SharedBatches

TEXTS = [
    "a film",
    "the play was very good",
    "dull",
    "not bad",
    "电影 good",
    "a",
    "the dull film was",
]
NAMES = ["bad", "good", "mixed", "good", "good", "bad", "mixed"]


def parts_of(data, strategy):
    """The rows of each replica, batch by batch."""
    return [
        [part.numpy().tolist() for part in strategy.experimental_local_results(batch)]
        for batch in divided(data, strategy)
    ]


@pytest.mark.tensorflow
def test_rows_are_divided_in_order_and_evenly(mirrored_strategy):
    data = tf.data.Dataset.range(10).batch(7)
    assert parts_of(data, mirrored_strategy) == [[[0, 1, 2, 3], [4, 5, 6]], [[7, 8], [9]]]


@pytest.mark.tensorflow
def test_a_replica_without_rows_has_none_of_the_same_width(mirrored_strategy):
    data = tf.data.Dataset.from_tensor_slices(np.ones((3, 5), "int32")).batch(2)
    *_, last = divided(data, mirrored_strategy)
    shapes = [part.shape for part in mirrored_strategy.experimental_local_results(last)]
    assert shapes == [(1, 5), (0, 5)]


@pytest.mark.tensorflow
def test_steps_are_those_of_the_batches(mirrored_strategy):
    assert divided(tf.data.Dataset.range(10).batch(3), mirrored_strategy).cardinality == 4
    endless = tf.data.Dataset.range(10).batch(3).repeat()
    assert divided(endless, mirrored_strategy).cardinality == tf.data.INFINITE_CARDINALITY


def numbers(size, asked):
    """Batches of counted rows, which note which rows they were asked for."""

    def make(rows):
        asked.append(rows)
        begin, end = rows or (0, size)
        whole = tf.data.Dataset.range(100).batch(size, drop_remainder=True)
        return whole.map(lambda batch: batch[begin:end]).repeat()

    return SharedBatches(size, make)


@pytest.mark.tensorflow
def test_batches_made_row_by_row_are_divided_as_others(mirrored_strategy):
    asked = []
    dataset = divided(numbers(7, asked), mirrored_strategy)
    assert dataset.cardinality == tf.data.INFINITE_CARDINALITY
    _, second = (next(batches) for batches in [iter(dataset)] * 2)
    parts = [p.numpy().tolist() for p in mirrored_strategy.experimental_local_results(second)]
    assert parts == [[7, 8, 9, 10], [11, 12, 13]]
    assert asked == [None]  # one machine makes whole batches


@pytest.mark.tensorflow
def test_replicas_divide_what_a_data_service_prepares(mirrored_strategy):
    numbers = tf.data.Dataset.counter().batch(7).map(lambda batch: (batch,))
    with DataServer() as server:
        service = DataService([server.address])
        served = SharedBatches(7, lambda rows: service.batches(numbers, lambda batch: 10 * batch))
        batches = iter(divided(served, mirrored_strategy))
        found = [
            [part.numpy().tolist() for part in mirrored_strategy.experimental_local_results(batch)]
            for batch in (next(batches), next(batches))
        ]
    assert found == [[[0, 10, 20, 30], [40, 50, 60]], [[70, 80, 90, 100], [110, 120, 130]]]


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("size", "of_machines"),
    [(7, [(0, 4), (4, 7)]), (8, [(0, 4), (4, 8)]), (3, [(0, 2), (2, 3)])],
)
def test_each_machine_makes_its_rows_alone(size, of_machines):
    asked, found = [], []
    for first in (0, 2):  # two machines of two replicas
        parts = _own_parts(numbers(size, asked), first, tf.data.Dataset.range(2), 4)
        if size % 4 == 0:
            assert parts.element_spec.shape == (size // 4,)
        found.append([part.numpy().tolist() for part in parts.take(4)])
    assert asked == of_machines
    # One batch after another, and in each the rows of the replicas in order.
    for batch in (0, 1):
        rows = [row for machine in found for part in machine[2 * batch :][:2] for row in part]
        assert rows == list(range(size * batch, size * (batch + 1)))


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.compiled
def test_raw_texts_are_answered_once_and_in_order(make_tiny_text_classifier, mirrored_strategy):
    alone = make_tiny_text_classifier()
    with mirrored_strategy.scope():
        together = make_tiny_text_classifier()
    expected = alone.predict(TEXTS, batch_size=7, verbose=0)
    for batch_size in (2, 7):
        answers = together.predict(TEXTS, batch_size=batch_size, verbose=0)
        np.testing.assert_allclose(answers, expected, atol=1e-6)
    measured = together.evaluate(TEXTS, NAMES, batch_size=3, verbose=0, return_dict=True)
    assert measured == pytest.approx(
        alone.evaluate(TEXTS, NAMES, batch_size=3, verbose=0, return_dict=True), rel=1e-6
    )


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.compiled
def test_rows_wider_than_one_value_are_predicted_once_and_in_order(mirrored_strategy):
    alone, x, y, weights = ready(crf_tags, 5)
    with mirrored_strategy.scope():
        together = ready(crf_tags, 5)[0]
        together.compile()
    expected = alone.predict(x, batch_size=5, verbose=0)
    np.testing.assert_allclose(together.predict(x, batch_size=4, verbose=0), expected, atol=1e-5)
    alone.compile()
    options = {"sample_weight": weights, "batch_size": 4, "verbose": 0, "return_dict": True}
    measured, other = (task.evaluate(x, y, **options) for task in (together, alone))
    assert measured == pytest.approx(other, rel=1e-6)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"steps_per_execution": 3}, "steps_per_execution=3"),
        ({"jit_compile": True}, "jit_compile=True"),
        (
            {"optimizer": lambda: keras.optimizers.SGD(0.1, gradient_accumulation_steps=4)},
            "gradient_accumulation_steps=4",
        ),
        (
            {"optimizer": lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD())},
            "mixed_float16",
        ),
    ],
)
def test_what_replicas_cannot_do_is_refused_before_the_first_step(
    options, words, mirrored_strategy
):
    with mirrored_strategy.scope():
        task, x, y, _ = ready(plain_classes, 5)
        task.compile(**{name: v() if callable(v) else v for name, v in options.items()})
    with pytest.raises(ValueError, match=f"MirroredStrategy with 2 replicas.*{words}"):
        task.fit(x, y, verbose=0)


@pytest.mark.skipif(keras.config.backend() != "jax", reason="of JAX")
def test_jax_answers_each_row_once_and_in_order(make_tiny_text_classifier):
    from kerazoo.training.distribution import from_name

    alone = make_tiny_text_classifier()
    expected = alone.predict(TEXTS, batch_size=7, verbose=0)
    with from_name("data_parallel").scope():
        together = make_tiny_text_classifier()
        together.compile()
        answers = together.predict(TEXTS, batch_size=4, verbose=0)
        measured = together.evaluate(TEXTS, NAMES, batch_size=4, verbose=0, return_dict=True)
    np.testing.assert_allclose(answers, expected, atol=1e-6)
    assert measured == pytest.approx(
        alone.evaluate(TEXTS, NAMES, batch_size=4, verbose=0, return_dict=True), rel=1e-6
    )
