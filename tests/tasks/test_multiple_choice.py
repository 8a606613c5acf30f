import keras
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_gpt import tiny_byte_tokenizer, tiny_gpt

import kerazoo

TOKENIZER = tiny_byte_tokenizer()
ROWS = {
    "context": ["it rained", "sun"],
    "question": ["so?", ""],
    "choices": [["wet", "dry", "a $"], ["hot", "cold"]],
}
LABELS = [2, 1]


def make(length=32, num_layers=2, **arguments):
    preprocessor = kerazoo.MultipleChoicePreprocessor(TOKENIZER, sequence_length=length)
    backbone = tiny_gpt(num_layers=num_layers)
    return kerazoo.MultipleChoice(backbone, preprocessor=preprocessor, **arguments)


def one_row(number):
    return {key: value[number : number + 1] for key, value in ROWS.items()}


@pytest.mark.slow_on_jax
def test_each_choice_has_the_score_of_its_own_text():
    task = make(lm_loss_weight=0)
    logits = task.predict(ROWS, verbose=0)
    assert logits.shape == (2, 3)
    kernel, bias = (ops.convert_to_numpy(weight) for weight in task.classifier.weights)
    assert kernel.shape == (20, 1)
    features = {k: ops.convert_to_numpy(v) for k, v in task.preprocessor(ROWS).items()}
    row, choice = [0, 0, 1], [0, 2, 1]
    alone = {key: features[key][row, choice] for key in task.backbone.input}
    pooled = task.backbone.predict_on_batch(alone)["pooled_output"]
    np.testing.assert_allclose(logits[row, choice], (pooled @ kernel + bias)[:, 0], atol=1e-5)
    # A missing choice has no probability and changes nothing.
    assert logits[1, 2] == np.finfo("float32").min
    np.testing.assert_allclose(task.predict(one_row(1), verbose=0), logits[1:, :2], atol=1e-5)


def test_the_loss_by_hand():
    task = make(lm_loss_weight=0.5)
    features, labels = task.preprocessor(ROWS, y=LABELS)
    features = {key: features[key] for key in task.backbone.input}
    outputs = task(features)
    loss = float(ops.convert_to_numpy(task.compute_loss(features, labels, outputs)))
    logits = ops.convert_to_numpy(outputs["logits"]).astype("float64")
    finetune = lm = 0.0
    for row, count in enumerate((3, 2)):
        scores = logits[row, :count]
        finetune += (np.log(np.exp(scores).sum()) - scores[LABELS[row]]) / 2
        for choice in range(count):
            ids, mask = (
                ops.convert_to_numpy(features[key])[row, choice][None]
                for key in ("token_ids", "padding_mask")
            )
            states = task.backbone({"token_ids": ids, "padding_mask": mask})["sequence_output"]
            tokens = ops.convert_to_numpy(task.backbone.next_token_logits(states))[0]
            tokens = tokens.astype("float64")
            tokens -= np.log(np.exp(tokens).sum(-1, keepdims=True))
            steps = range(int(mask.sum()) - 1)
            lm -= np.mean([tokens[at, ids[0, at + 1]] for at in steps]) / 5  # five texts
    assert loss == pytest.approx(finetune + 0.5 * lm, rel=1e-5)


@pytest.mark.slow
@pytest.mark.compiled
def test_fit_on_a_dataset_and_choose():
    task = make(num_layers=1)
    task.compile(keras.optimizers.Adam(3e-2))
    columns = {**ROWS, "choices": [[*ROWS["choices"][0]], [*ROWS["choices"][1], ""]]}
    data = tf.data.Dataset.from_tensors((columns, LABELS))
    history = task.fit(data, epochs=6, verbose=0).history
    assert history["finetune_loss"][-1] < history["finetune_loss"][0]
    assert history["lm_loss"][-1] < history["lm_loss"][0]
    answers = task.choose([{key: value[row] for key, value in ROWS.items()} for row in range(2)])
    assert [(a["choice"], a["text"]) for a in answers] == [(2, "a $"), (1, "cold")]
    assert [len(a["scores"]) for a in answers] == [3, 2]
    for answer in answers:
        assert sum(answer["scores"]) == pytest.approx(1, abs=1e-5)
        assert answer["score"] == max(answer["scores"])


@pytest.mark.slow
def test_lists_and_datasets_of_ragged_choices_give_the_same_loss():
    task = make(num_layers=1, lm_loss_weight=0)
    expected = task.evaluate(ROWS, LABELS, verbose=0)
    columns = {**ROWS, "choices": tf.ragged.constant(ROWS["choices"])}
    ragged = tf.data.Dataset.from_tensors((columns, LABELS))
    assert task.evaluate(ragged, verbose=0) == pytest.approx(expected, abs=1e-5)


def test_labels_are_checked_against_the_choices_of_their_row():
    task = make()
    for wrong in (3, -1):
        with pytest.raises(ValueError, match=f"Row 0 has 3 choices.*Received: y={wrong}"):
            task.fit(ROWS, [wrong, 0])
    with pytest.raises(ValueError, match="Row 1 has 2 choices.*Received: y=2"):
        task.fit(ROWS, [0, 2])
    with pytest.raises(ValueError, match="Training needs texts with labels"):
        task.fit(ROWS)
    assert task.predict({"choices": []}).shape == (0, 0)
    with pytest.raises(ValueError, match=r"task\.backbone\.export_to_transformers"):
        task.export_to_transformers("somewhere")


@pytest.mark.slow_on_jax
def test_long_contexts_are_said():
    task = make(length=20, lm_loss_weight=0)
    with pytest.warns(UserWarning, match="1 of 2 texts is longer than 20 tokens"):
        task.choose({**ROWS, "context": ["it rained " * 5, ""]})


@pytest.mark.slow
def test_bert_and_a_preset(make_tiny_backbone, tiny_tokenizer, tmp_path):
    preprocessor = kerazoo.MultipleChoicePreprocessor(tiny_tokenizer, sequence_length=11)
    task = kerazoo.MultipleChoice(make_tiny_backbone(num_layers=1), preprocessor=preprocessor)
    rows = {"context": ["a film", "a play"], "choices": [["good", "bad", "dull"], ["great", "bad"]]}
    assert set(task.input) == {"token_ids", "segment_ids", "padding_mask"}
    assert np.isfinite(task.fit(rows, [0, 1], verbose=0).history["loss"]).all()
    expected = task.predict(rows, verbose=0)
    task.save_to_preset(tmp_path)
    copy = kerazoo.MultipleChoice.from_preset(tmp_path)
    np.testing.assert_allclose(copy.predict(rows, verbose=0), expected, atol=1e-6)
    assert copy.preprocessor.sequence_length == 11


@pytest.mark.slow
@pytest.mark.tensorflow
def test_served_answers_equal_choose():
    task = make(num_layers=1)
    signatures = task.serving_signatures()
    signature = signatures["serving_default"]
    function = tf.function(
        lambda *values: signature.function(
            **{spec.name: value for spec, value in zip(signature.inputs, values, strict=True)}
        )
    ).get_concrete_function(*signature.inputs)
    filled = [[*ROWS["choices"][0]], [*ROWS["choices"][1], ""]]
    answers = function(*map(tf.constant, (ROWS["context"], ROWS["question"], filled)))
    expected = task.choose(ROWS)
    assert answers["choice"].numpy().tolist() == [row["choice"] for row in expected]
    assert answers["choice"].dtype == tf.int32
    assert [text.decode() for text in answers["text"].numpy()] == [row["text"] for row in expected]
    np.testing.assert_allclose(answers["score"], [row["score"] for row in expected], atol=1e-5)
    np.testing.assert_allclose(answers["probabilities"][1, :2], expected[1]["scores"], atol=1e-5)
    assert answers["probabilities"][1, 2] == 0
    features = signatures["features"]
    answer = features.function(**{k: tf.constant(v) for k, v in features.example.items()})
    assert answer["probabilities"].shape == (1, 2)
