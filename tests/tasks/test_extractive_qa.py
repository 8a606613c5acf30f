import keras
import keras_nlp
import numpy as np
import pytest
import tensorflow as tf
from keras import ops
from tiny_extractive_qa import (
    LONG,
    ROWS,
    VOCABULARY,
    answers,
    make_tiny_extractive_qa,
    questions,
    tiny_extractive_qa,
    tiny_tokenizer,
)

import kerazoo
from kerazoo import BertBackbone, ExtractiveQA, ExtractiveQAPreprocessor


def predicted(task, features):
    with task.without_preprocessor():
        outputs = task.predict_on_batch({key: features[key] for key in task.input})
    return {key: ops.convert_to_numpy(value) for key, value in outputs.items()}


def log_softmax(logits):
    logits = np.where(logits == np.finfo("float32").min, -np.inf, logits.astype("float64"))
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


def test_the_loss_is_the_mean_of_start_and_end_over_passage_and_null():
    task = make_tiny_extractive_qa()
    weights = np.array([1.0, 2.0, 0.5, 0.0, 1.5, 3.0], "float32")
    windows = task.windows(questions(), answers(), weights)
    outputs = predicted(task, windows.features)
    losses = []
    for key in ("start_logits", "end_logits"):
        logits, targets = outputs[key], windows.targets[key]
        # Nothing but the passage and [CLS] takes part.
        allowed = windows.features["answer_mask"] == 1
        assert (np.isfinite(log_softmax(logits)) == allowed).all()
        losses.append(-log_softmax(logits)[np.arange(len(targets)), targets])
    w = windows.weights["start_logits"]
    expected = (w * (losses[0] + losses[1]) / 2).sum() / w.sum()
    measured = task.evaluate(
        questions(), answers(), sample_weight=weights, batch_size=64, verbose=0, return_dict=True
    )
    assert measured["loss"] == pytest.approx(expected, rel=1e-4)
    accuracy = (w * (outputs["end_logits"].argmax(-1) == windows.targets["end_logits"])).sum()
    assert measured["end_logits_accuracy"] == pytest.approx(accuracy / w.sum(), abs=1e-5)


@pytest.mark.slow
@pytest.mark.compiled
def test_it_learns_the_answers_and_that_there_is_none():
    task = make_tiny_extractive_qa()
    assert task.no_answer_threshold is None
    task.compile(optimizer=keras.optimizers.Adam(1e-2))
    # An epoch takes longer to begin than its steps, so there are few of many rows.
    many = ROWS * 10
    history = task.fit(questions(many), answers(many), batch_size=16, epochs=8, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] / 4
    assert task.no_answer_threshold == 0.0
    found = task.answer(questions())
    assert [a["answer"] for a in found] == [row[2] or "" for row in ROWS]
    for answer, (_, context, _) in zip(found, ROWS, strict=True):
        assert context[answer["start"] : answer["end"]] == answer["answer"]
        for entry in answer["n_best"]:
            assert context[entry["start"] : entry["end"]] == entry["answer"]


@pytest.mark.slow
def test_datasets_and_held_out_questions():
    task = make_tiny_extractive_qa()
    columns = {
        "answer": [a[0] for a in answers()[:4]],
        "answer_start": [a[1] for a in answers()[:4]],
    }
    data = tf.data.Dataset.from_tensor_slices((questions(ROWS[:4]), columns)).batch(4)
    task.preprocessor.pad_to_multiple_of = 4
    history = task.fit(
        data, validation_data=(questions(ROWS[:2]), answers()[:2]), verbose=0
    ).history
    assert np.isfinite([history["loss"], history["val_loss"]]).all()
    history = task.fit(questions(), answers(), validation_split=0.4, verbose=0).history
    assert np.isfinite(history["val_loss"]).all()


def test_ready_batches_are_trimmed_to_their_longest_row():
    task = make_tiny_extractive_qa()
    windows = task.windows(questions())
    assert task.preprocess_samples(windows.features)["token_ids"].shape[1] == 16
    task.preprocessor.pad_to_multiple_of = 4
    first = {key: value[:1] for key, value in windows.features.items()}
    trimmed, targets = task.preprocess_samples(first, {"start_logits": np.zeros(1)})
    assert {key: value.shape for key, value in trimmed.items()} == dict.fromkeys(first, (1, 12))
    assert set(targets) == {"start_logits"}


@pytest.mark.slow_on_jax
def test_one_question_or_many_about_one_passage():
    task = tiny_extractive_qa()
    alone = task.answer("who came?", LONG)
    assert alone["answer"] == LONG[alone["start"] : alone["end"]]
    many = task.answer(["who came?", "what?"], LONG)
    assert many[0]["n_best"][0]["answer"] == alone["n_best"][0]["answer"]
    assert task.answer([], []) == []
    assert len(task.answer("who came?", LONG, top_k=12)["n_best"]) == 12
    short = task.answer("who came?", LONG, max_answer_length=1, no_answer_threshold=1e9)
    assert len(tiny_tokenizer()(short["answer"])) == 1
    nothing = task.answer("who came?", LONG, no_answer_threshold=-1e9)
    assert (nothing["answer"], nothing["start"], nothing["end"]) == ("", 0, 0)
    assert alone["score"] <= 1


@pytest.mark.slow
@pytest.mark.parametrize("context", ["", " ", "\u200b"])
def test_an_empty_passage_has_an_empty_answer(context):
    answer = tiny_extractive_qa().answer("who?", context)
    assert (answer["answer"], answer["start"], answer["end"]) == ("", 0, 0)
    assert answer["score"] == pytest.approx(1.0)
    without = make_tiny_extractive_qa().answer("who?", context)
    assert (without["answer"], without["score"], without["n_best"]) == ("", 0.0, [])


def test_a_preset_keeps_head_windows_and_threshold(tmp_path):
    task = make_tiny_extractive_qa(no_answer_threshold=0.25, max_answer_length=7)
    task.save_to_preset(tmp_path)
    copy = ExtractiveQA.from_preset(tmp_path)
    assert (copy.no_answer_threshold, copy.max_answer_length) == (0.25, 7)
    assert (copy.preprocessor.sequence_length, copy.preprocessor.stride) == (16, 5)
    assert copy.answer(questions()) == task.answer(questions())
    other = ExtractiveQA.from_preset(tmp_path, stride=3, sequence_length=14)
    assert (other.preprocessor.sequence_length, other.preprocessor.stride) == (14, 3)
    classifier = kerazoo.TextClassifier.from_preset(tmp_path, num_classes=2)
    assert classifier.backbone.count_params() == task.backbone.count_params()


@pytest.mark.slow
def test_saved_with_its_optimizer(tmp_path):
    task = make_tiny_extractive_qa()
    task.fit(questions(), answers(), verbose=0)
    task.save(tmp_path / "task.keras")
    copy = keras.saving.load_model(tmp_path / "task.keras")
    measured = task.evaluate(questions(), answers(), verbose=0, return_dict=True)
    again = copy.evaluate(questions(), answers(), verbose=0, return_dict=True)
    assert again == pytest.approx(measured, abs=1e-5)
    assert len(copy.optimizer.variables) == len(task.optimizer.variables)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("dtype", ["mixed_bfloat16"])
def test_half_precision_and_a_frozen_backbone(dtype):
    backbone = BertBackbone(
        vocabulary_size=len(VOCABULARY),
        num_layers=1,
        num_heads=2,
        hidden_dim=12,
        intermediate_dim=14,
        max_sequence_length=17,
        dtype=dtype,
    )
    layer = ExtractiveQAPreprocessor(tiny_tokenizer(), sequence_length=16)
    task = ExtractiveQA(backbone, layer, freeze_backbone=True)
    task.compile()
    assert {w.path.split("/")[0] for w in task.trainable_weights} == {"span_head"}
    assert np.isfinite(task.fit(questions(), answers(), verbose=0).history["loss"]).all()
    outputs = predicted(task, task.windows(questions()).features)
    assert outputs["start_logits"].dtype == np.float32


@pytest.mark.slow
def test_a_causal_backbone_reads_its_last_token_as_no_answer(make_tiny_gpt, tiny_bpe_tokenizer):
    tokenizer = tiny_bpe_tokenizer.with_task_tokens()
    backbone = make_tiny_gpt(vocabulary_size=tokenizer.vocabulary_size())
    layer = ExtractiveQAPreprocessor(tokenizer, sequence_length=29, stride=9)
    task = ExtractiveQA(backbone, layer, no_answer_threshold=0.0)
    assert layer.null_at_end
    rows = {"question": ["who"], "context": ["小明 came on a good day and left"]}
    assert np.isfinite(task.fit(rows, [("小明", 0)], verbose=0).history["loss"]).all()
    answer = task.answer(rows)[0]
    assert rows["context"][0][answer["start"] : answer["end"]] == answer["answer"]


def test_another_encoder_of_kerashub():
    backbone = keras_nlp.models.DistilBertBackbone(
        vocabulary_size=len(VOCABULARY),
        num_layers=1,
        num_heads=2,
        hidden_dim=12,
        intermediate_dim=14,
        max_sequence_length=17,
    )
    task = ExtractiveQA(backbone, ExtractiveQAPreprocessor(tiny_tokenizer(), sequence_length=16))
    assert "answer" in task.answer("who?", "ada came.")


def test_what_does_not_fit_is_refused():
    task = tiny_extractive_qa()
    with pytest.raises(ValueError, match="Row 1: the question has 13 tokens"):
        task.answer(["who?", "who " * 13], LONG)
    with pytest.raises(ValueError, match="Questions come with their contexts"):
        task.answer("who?")
    with pytest.raises(ValueError, match="Pass a list of texts.*question=None"):
        task.answer(None, LONG)
    with pytest.raises(ValueError, match="from 1 to 20.*top_k=21"):
        task.answer("who?", LONG, top_k=21)
    with pytest.raises(ValueError, match="Training needs questions with answers"):
        task.fit(questions())
    with pytest.raises(ValueError, match="Row 0: the answer is not the slice"):
        task.fit(questions(), [("Ada", 0), *answers()[1:]])
    with pytest.raises(TypeError, match="labels"):
        make_tiny_extractive_qa(labels=["a", "b"])
    with pytest.raises(ValueError, match="max_answer_length=0"):
        make_tiny_extractive_qa(max_answer_length=0)
    with pytest.raises(ValueError, match="at most 17 positions.*sequence_length=18"):
        make_tiny_extractive_qa(sequence_length=18)
