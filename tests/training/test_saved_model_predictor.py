import shutil

import pytest
import tensorflow as tf

from kerazoo.export.verify import verify_saved_model
from kerazoo.training.saved_model_predictor import SavedModelPredictor


def test_answers_equal_the_tasks(tiny_saved_model, tiny_text_classifier):
    predictor = SavedModelPredictor(tiny_saved_model)
    assert predictor.labels == ["bad", "good", "mixed"]
    assert predictor.pairs is False
    texts = ["the film was good", "", "电影好", "dull dull dull dull dull", "x"]
    answers = predictor.answer({"text": texts}, batch_size=2)
    for answer, expected in zip(answers, tiny_text_classifier.classify(texts), strict=True):
        assert answer["label"] == expected["label"]
        assert answer["score"] == pytest.approx(expected["score"], abs=1e-6)
        assert answer["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)
    assert predictor.answer({"text": []}, batch_size=2) == []


def test_the_highest_version_is_taken(tiny_saved_model, tmp_path):
    for version in ("2", "10", "notes"):
        shutil.copytree(tiny_saved_model, tmp_path / version)
    assert SavedModelPredictor(tmp_path).folder == tmp_path / "10"


def test_pairs_are_answered(pair_classifier, tmp_path):
    predictor = SavedModelPredictor(pair_classifier.export(tmp_path / "pairs"))
    assert predictor.pairs is True
    columns = {"text": ["good", "bad"], "text_pair": ["a film", ""]}
    answers = predictor.answer(columns, batch_size=3)
    for answer, expected in zip(answers, pair_classifier.classify(columns), strict=True):
        assert answer["probabilities"] == pytest.approx(expected["probabilities"], abs=1e-6)


def test_a_saved_model_of_something_else_is_refused(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: {"y": 2 * x}, [tf.TensorSpec([None], name="x")])
    tf.saved_model.save(module, str(tmp_path / "1"), signatures={"serving_default": module.f})
    with pytest.raises(ValueError, match="description cannot be read"):
        SavedModelPredictor(tmp_path)


def test_label_names_that_are_lost_are_named(tiny_saved_model, tmp_path):
    folder = shutil.copytree(tiny_saved_model, tmp_path / "1")
    (folder / "assets.extra" / "kerazoo.json").write_text("{")
    with pytest.raises(ValueError, match="description cannot be read from .*kerazoo.json"):
        SavedModelPredictor(folder)


@pytest.mark.parametrize("name", ["saved_model.pb", "variables/variables.index"])
def test_a_damaged_saved_model_is_named(tiny_saved_model, tmp_path, name):
    folder = shutil.copytree(tiny_saved_model, tmp_path / "1")
    (folder / name).write_bytes((folder / name).read_bytes()[:100])
    with pytest.raises(ValueError, match=r"/1 cannot be loaded; it is damaged") as caught:
        SavedModelPredictor(folder)
    assert "\n" not in str(caught.value)


PAIRS = {"text": ["the good", "a"], "text_pair": ["good", "the good x"]}
QUESTIONS = {
    "context": ["the good", "a"],
    "question": ["the", "x"],
    "choices": [["a", "good", "the x"], ["good", "the good"]],
}


@pytest.fixture(scope="module")
def make_gpt_task(make_tiny_gpt, tiny_bpe_tokenizer):
    """A function that builds a task on a GPT with the three task tokens."""
    import kerazoo

    tokenizer = tiny_bpe_tokenizer.with_task_tokens()

    def make(name, **arguments):
        preprocessor = getattr(kerazoo, f"{name}Preprocessor")(tokenizer, sequence_length=29)
        backbone = make_tiny_gpt(vocabulary_size=tokenizer.vocabulary_size())
        return getattr(kerazoo, name)(backbone, preprocessor=preprocessor, **arguments)

    return make


@pytest.mark.parametrize(
    ("name", "arguments", "rows", "method"),
    [
        pytest.param(
            *("TextClassifier", {"num_classes": 3}, [{"text": PAIRS["text"]}], "classify"),
            marks=pytest.mark.slow,
        ),
        pytest.param(
            *("TextClassifier", {"num_classes": 3, "pairs": True}, [PAIRS], "classify"),
            marks=pytest.mark.slow,
        ),
        ("TextSimilarity", {"labels": ["no", "yes"]}, [PAIRS], "compare"),
        pytest.param("TextSimilarity", {}, [PAIRS], "compare", marks=pytest.mark.slow),
        pytest.param(
            *("MultipleChoice", {}, [QUESTIONS, {"choices": QUESTIONS["choices"]}], "choose"),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["texts", "pairs", "classes", "scores", "choices"],
)
def test_exports_of_gpts_tasks_can_be_served_and_answer_as_the_presets(
    make_gpt_task, tmp_path, name, arguments, rows, method
):
    task = make_gpt_task(name, **arguments)
    folder = task.export(tmp_path / "m")
    report = verify_saved_model(folder)
    assert report.ok, report
    predictor = SavedModelPredictor(folder)
    assert predictor.task_name == task.task_name
    for columns in rows:
        found = predictor.answer(columns, batch_size=2)
        for answer, expected in zip(found, getattr(task, method)(columns), strict=True):
            assert set(answer) == set(expected)
            for key, value in expected.items():
                is_text = isinstance(value, str)
                assert answer[key] == (value if is_text else pytest.approx(value, 1e-4))


@pytest.mark.slow
def test_a_language_model_is_asked_with_its_settings(tiny_causal_lm, tmp_path):
    from kerazoo.training.generation_settings import GenerationSettings
    from kerazoo.training.preset_predictor import PresetPredictor

    folder = tiny_causal_lm.export(tmp_path / "lm")
    prompts = {"text": ["the good", "a"]}
    settings = GenerationSettings(max_new_tokens=6)
    expected = PresetPredictor(tiny_causal_lm, settings).answer(prompts, 2)
    assert SavedModelPredictor(folder, settings).answer(prompts, 1) == expected
    draw = GenerationSettings(max_new_tokens=6, temperature=2.0, seed=1)
    drawn = SavedModelPredictor(folder, draw).answer(prompts, 2)
    assert drawn == SavedModelPredictor(folder, draw).answer(prompts, 1) != expected
    for settings in (GenerationSettings(num_beams=2), GenerationSettings(sliding_window=True)):
        with pytest.raises(ValueError, match="neither beam search nor sliding window"):
            SavedModelPredictor(folder, settings).answer(prompts, 2)
