import json
import subprocess
import sys

import keras
import keras_nlp
import numpy as np
import pytest
from keras import ops
from tiny_extractive_qa import VOCABULARY, tiny_tokenizer
from tiny_token_classifier import (
    ENTITIES,
    LABELS,
    TAGS,
    TEXTS,
    WORDS,
    make_tiny_token_classifier,
    tiny_token_classifier,
)

import kerazoo
from kerazoo import BertBackbone, TokenClassifier, TokenClassifierPreprocessor
from kerazoo.metrics.entity_report import entity_report
from kerazoo.metrics.entity_spans import entity_spans


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("crf", [False, True])
def test_it_learns_words_and_texts(crf):
    task = make_tiny_token_classifier(crf=crf)
    task.preprocessor.pad_to_multiple_of = 4
    task.compile(optimizer=keras.optimizers.Adam(1e-2))
    before = None if task.crf is None else ops.convert_to_numpy(task.crf.transition)
    # An epoch takes longer to begin than its steps, so there are few of many rows.
    history = task.fit(WORDS * 20, TAGS * 20, batch_size=16, epochs=5, verbose=0).history
    assert history["loss"][-1] < history["loss"][0] / 4
    assert [answer["tags"] for answer in task.tag(WORDS)] == TAGS
    if crf:
        assert "entity_f1" not in history
        assert np.abs(ops.convert_to_numpy(task.crf.transition) - before).min() > 0
    measured = task.evaluate(WORDS, TAGS, verbose=0, return_dict=True)
    assert measured["entity_f1"] == 1
    task.fit(TEXTS * 20, ENTITIES * 20, batch_size=16, epochs=4, verbose=0)
    for text, answer, entities in zip(TEXTS, task.tag(TEXTS), ENTITIES, strict=True):
        found = answer["entities"]
        assert [(e["start"], e["end"], e["type"]) for e in found] == entities
        assert [e["text"] for e in found] == [text[a:b] for a, b, _ in entities]
        assert all(0 < e["score"] <= 1 for e in found)


@pytest.mark.slow_on_jax
@pytest.mark.parametrize("crf", [False, True])
def test_the_metric_of_evaluate_is_that_of_the_tags(crf):
    """Windows own every word once, so that the F1 over windows is that over texts."""
    task = make_tiny_token_classifier(crf=crf, sequence_length=17)
    short = [row for row in zip(WORDS, TAGS, strict=True) if len(row[0]) < 15]
    words, tags = (list(column) for column in zip(*short, strict=True))
    found = [answer["tags"] for answer in task.tag(words)]
    report = entity_report(*([entity_spans(row) for row in rows] for rows in (tags, found)))
    measured = task.evaluate(words, tags, verbose=0, return_dict=True)
    assert measured["entity_f1"] == pytest.approx(report["f1"])
    assert np.isfinite(measured["loss"])


@pytest.mark.slow_on_jax
def test_entities_are_slices_and_each_stands_once():
    for crf in (False, True):
        for text, answer in zip(TEXTS, tiny_token_classifier(crf).tag(TEXTS), strict=True):
            places = [(e["start"], e["end"]) for e in answer["entities"]]
            assert places == sorted(set(places))
            assert all(text[e["start"] : e["end"]] == e["text"] for e in answer["entities"])
            assert len(answer["words"]) == len(answer["tags"])
            spans = entity_spans(answer["tags"], "strict")
            assert [s.type for s in spans] == [e["type"] for e in answer["entities"]]
    assert tiny_token_classifier().tag([]) == []
    assert tiny_token_classifier().tag([""])[0]["entities"] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" " * 10 + "Ada  came", ["Ada", "came"]),
        # Several unknown words in a row, at the front, in the middle and at the end.
        ("αβγ用δ表示角", ["αβγ", "用", "δ", "表", "示", "角"]),
        ("用αβγ 表示角αβγ", ["用", "αβγ", "表", "示", "角", "αβγ"]),
        # Letters of two bytes, some of which become others in lower case and without accents.
        ("β-blocker and Ångström, İda", ["β", "-", "blocker", "and", "Ångström", ",", "İda"]),
        ("👍🏽 e\u0301\u0301 小e", ["👍🏽", "e\u0301\u0301", "小", "e"]),
    ],
)
def test_offsets_are_characters_of_the_callers_text(text, words):
    task = make_tiny_token_classifier()
    task.classifier.bias.assign([-1e3, 0, 0, 0, 0])  # every word is of an entity
    (answer,) = task.tag([text])
    assert answer["words"] == words
    places, end = [], 0
    for word in words:
        places.append((text.index(word, end), text.index(word, end) + len(word)))
        end = places[-1][1]
    spans = entity_spans(answer["tags"])
    assert sum(span.behind - span.first for span in spans) == len(words)
    assert [(e["start"], e["end"]) for e in answer["entities"]] == [
        (places[span.first][0], places[span.behind - 1][1]) for span in spans
    ]
    assert all(text[e["start"] : e["end"]] == e["text"] for e in answer["entities"])


def test_a_banned_move_is_never_made():
    task = make_tiny_token_classifier(crf=True, ban_illegal_moves=True)
    free = make_tiny_token_classifier(crf=True)
    for model in (task, free):
        shape = model.classifier.kernel.shape
        model.classifier.kernel.assign(keras.random.normal(shape, stddev=3.0, seed=2))
    assert sum(answer["illegal_moves"] for answer in free.tag(WORDS)) > 0
    assert sum(answer["illegal_moves"] for answer in task.tag(WORDS)) == 0


@pytest.mark.slow
@pytest.mark.parametrize("crf", [False, True])
def test_a_preset_keeps_tags_windows_and_moves(tmp_path, crf):
    task = tiny_token_classifier(crf)
    task.save_to_preset(tmp_path)
    copy = TokenClassifier.from_preset(tmp_path)
    assert (copy.labels, copy.preprocessor.labels, copy.crf is None) == (LABELS, LABELS, not crf)
    assert (copy.preprocessor.sequence_length, copy.preprocessor.stride) == (13, 4)
    assert copy.tag(TEXTS) == task.tag(TEXTS)
    if crf:
        np.testing.assert_array_equal(
            *(ops.convert_to_numpy(t.crf.transition) for t in (copy, task))
        )
        assert np.isfinite(copy.fit(WORDS, TAGS, verbose=0).history["loss"]).all()
    other = TokenClassifier.from_preset(tmp_path, labels=["O", "B-X", "I-X"], stride=3)
    assert (other.labels, other.preprocessor.stride) == (["O", "B-X", "I-X"], 3)
    # A head of another kind is a new one.
    changed = TokenClassifier.from_preset(tmp_path, crf=not crf)
    assert (changed.crf is None) == crf
    classifier = kerazoo.TextClassifier.from_preset(tmp_path, num_classes=2)
    assert classifier.backbone.count_params() == task.backbone.count_params()


@pytest.mark.slow
def test_saved_with_its_optimizer(tmp_path):
    task = make_tiny_token_classifier(crf=True)
    task.fit(WORDS, TAGS, verbose=0)
    task.save(tmp_path / "task.keras")
    copy = keras.saving.load_model(tmp_path / "task.keras")
    measured = task.evaluate(WORDS, TAGS, verbose=0, return_dict=True)
    again = copy.evaluate(WORDS, TAGS, verbose=0, return_dict=True)
    assert again == pytest.approx(measured, abs=1e-5)
    assert len(copy.optimizer.variables) == len(task.optimizer.variables)


IN_A_FRESH_PROCESS = """
import json, sys
import keras, kerazoo
task = keras.saving.load_model(sys.argv[1])
words, tags = json.loads(sys.argv[2])
found = [answer["tags"] for answer in task.tag(words)]
before = keras.ops.convert_to_numpy(task.crf.transition)
task.fit(words, tags, verbose=0)
moved = keras.ops.convert_to_numpy(task.crf.transition) - before
print(json.dumps([found, before.tolist(), float(abs(moved).min())]))
"""


@pytest.mark.slow
def test_a_fresh_process_tags_and_goes_on_with_training_the_moves(tmp_path):
    task = make_tiny_token_classifier(crf=True)
    task.fit(WORDS, TAGS, verbose=0)
    task.save(tmp_path / "task.keras")
    command = [sys.executable, "-c", IN_A_FRESH_PROCESS, str(tmp_path / "task.keras")]
    said = subprocess.run(
        [*command, json.dumps([WORDS, TAGS])], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
    found, transition, moved = json.loads(said.stdout.splitlines()[-1])
    assert found == [answer["tags"] for answer in task.tag(WORDS)]
    np.testing.assert_array_equal(transition, ops.convert_to_numpy(task.crf.transition))
    assert moved > 0


@pytest.mark.slow_on_jax
def test_half_precision_and_a_frozen_backbone():
    backbone = BertBackbone(
        vocabulary_size=len(VOCABULARY),
        num_layers=1,
        num_heads=2,
        hidden_dim=12,
        intermediate_dim=14,
        max_sequence_length=17,
        dtype="mixed_bfloat16",
    )
    layer = TokenClassifierPreprocessor(tiny_tokenizer(), sequence_length=16)
    task = TokenClassifier(backbone, LABELS, preprocessor=layer, crf=True, freeze_backbone=True)
    task.compile()
    assert {w.path.split("/")[0] for w in task.trainable_weights} == {"classifier", "crf"}
    assert np.isfinite(task.fit(WORDS, TAGS, verbose=0).history["loss"]).all()
    features = task.windows(WORDS).features
    with task.without_preprocessor():
        outputs = task.predict_on_batch({key: features[key] for key in task.input})
    assert ops.convert_to_numpy(outputs).dtype == np.float32


@pytest.mark.parametrize("separator", [" ", pytest.param("", marks=pytest.mark.slow)])
def test_a_causal_backbone(make_tiny_gpt, tiny_bpe_tokenizer, separator):
    """Each Han character is three bytes and three tokens here; a space belongs to its word."""
    tokenizer = tiny_bpe_tokenizer.with_task_tokens()
    backbone = make_tiny_gpt(vocabulary_size=tokenizer.vocabulary_size())
    layer = TokenClassifierPreprocessor(
        tokenizer, sequence_length=29, stride=9, word_separator=separator
    )
    task = TokenClassifier(backbone, labels=LABELS, preprocessor=layer, crf=True)
    given = (TEXTS, ENTITIES) if separator else (WORDS[:3], TAGS[:3])
    assert np.isfinite(task.fit(*given, verbose=0).history["loss"]).all()
    for text, answer in zip(TEXTS, task.tag(TEXTS), strict=True):
        for entity in answer["entities"]:
            assert text[entity["start"] : entity["end"]] == entity["text"] == entity["text"].strip()
    (answer,) = task.tag([["小", "明", "came"]])
    assert (answer["words"], len(answer["tags"])) == (["小", "明", "came"], 3)


@pytest.mark.slow_on_jax
def test_another_encoder_of_kerashub_and_other_tags():
    backbone = keras_nlp.models.DistilBertBackbone(
        vocabulary_size=len(VOCABULARY),
        num_layers=1,
        num_heads=2,
        hidden_dim=12,
        intermediate_dim=14,
        max_sequence_length=17,
    )
    layer = TokenClassifierPreprocessor(tiny_tokenizer(), sequence_length=16)
    task = TokenClassifier(backbone, ["NOUN", "VERB", "O"], preprocessor=layer)
    task.fit([["Ada", "came"]], [["NOUN", "VERB"]], verbose=0)
    (answer,) = task.tag(["Ada came."])
    assert answer["words"] == ["Ada", "came", "."]
    assert answer["illegal_moves"] == 0


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="one tag a word.*label_all_pieces=True"):
        make_tiny_token_classifier(crf=True, label_all_pieces=True)
    with pytest.raises(ValueError, match="Only a CRF can ban"):
        make_tiny_token_classifier(ban_illegal_moves=True)
    with pytest.raises(ValueError, match="at most 17 positions.*sequence_length=18"):
        make_tiny_token_classifier(sequence_length=18)
    with pytest.raises(TypeError, match="tags"):
        make_tiny_token_classifier(tags=LABELS)
    with pytest.raises(ValueError, match="labels are not known"):
        make_tiny_token_classifier(labels=None)
    task = tiny_token_classifier(crf=True)
    with pytest.raises(ValueError, match="The loss of a CRF is its own"):
        task.compile(loss="mse")
    with pytest.raises(ValueError, match="weigh texts with `sample_weight`"):
        task.fit(WORDS, TAGS, class_weight={"O": 0.5})
    with pytest.raises(ValueError, match="has no CRF"):
        task.export_to_transformers("nowhere")
