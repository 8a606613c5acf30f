import keras
import pytest

from kerazoo.training.config import FinetuneConfig
from kerazoo.training.dry_run import dry_run_of
from kerazoo.training.finetune import finetune

ON_TENSORFLOW = keras.config.backend() == "tensorflow"
ROWS = "text\tlabel\n" + "the film was good\tgood\nit was dull , very dull\tbad\n" * 7


@pytest.mark.parametrize("name", ["mirrored", "data_parallel"])
def test_other_devices_are_tried_where_they_are(name):
    instead = f"choose tpu, or none .*strategy='{name}'"
    with pytest.raises(ValueError, match=instead if ON_TENSORFLOW else "set KERAS_BACKEND=tensor"):
        dry_run_of(name)


@pytest.mark.tensorflow
def test_a_tpu_is_what_is_tried_unless_another_is_named():
    assert dry_run_of("auto").name == "tpu"
    assert dry_run_of("none").name == "none"


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.compiled
def test_the_step_of_a_tpu_is_compiled_and_nothing_is_written(
    make_tiny_text_classifier, tmp_path, capsys
):
    from kerazoo.training.progress import Progress

    preset = tmp_path / "preset"
    make_tiny_text_classifier(labels=["bad", "good"]).save_to_preset(preset)
    file = tmp_path / "rows.tsv"
    file.write_text(ROWS)
    output = tmp_path / "out"
    arguments = ("text-classification", str(preset), str(file), str(file), output)
    config = FinetuneConfig(batch_size=8, accumulate=2)
    result = finetune(*arguments, config, Progress(), strategy="tpu", dry_run=True)
    assert result.metrics["dry_run"]
    assert not output.exists()
    assert "XLA compiled the step" in capsys.readouterr().err


@pytest.mark.tensorflow
@pytest.mark.slow
@pytest.mark.compiled
def test_a_step_that_needs_the_host_does_not_compile(make_tiny_text_classifier):
    import tensorflow as tf

    class OnHost(keras.losses.Loss):
        """A loss that Python computes."""

        def call(self, y_true, y_pred):
            losses = tf.py_function(lambda value: value * 0.0, [y_pred[:, 0]], tf.float32)
            return tf.reshape(losses, (2,))

    task = make_tiny_text_classifier()
    task.static_rows = 2
    task.compile(loss=OnHost(), jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="EagerPyFunc"):
        task.fit(["a film", "dull"], ["bad", "good"], verbose=0)
