import json

import pytest
from tiny_extractive_qa import ROWS, make_tiny_extractive_qa
from tiny_token_classifier import TAGS, WORDS, make_tiny_token_classifier

from kerazoo.tasks.registry import task_class
from kerazoo.training import finetune as module
from kerazoo.training.config import FinetuneConfig
from kerazoo.training.finetune import finetune

TAGGING, ASKING = "token-classification", "extractive-qa"


@pytest.fixture(scope="module")
def presets(tmp_path_factory, make_tiny_text_classifier):
    """Folders of models that differ in what was saved; none can be loaded, for want of weights."""
    folder = tmp_path_factory.mktemp("models")
    tasks = {
        "softmax": make_tiny_token_classifier(),
        "all pieces": make_tiny_token_classifier(label_all_pieces=True),
        "crf": make_tiny_token_classifier(crf=True),
        "banning crf": make_tiny_token_classifier(crf=True, ban_illegal_moves=True),
        "questions": make_tiny_extractive_qa(),
        "texts": make_tiny_text_classifier(),
    }
    for name, task in tasks.items():
        task.save_to_preset(folder / name)
    tasks["texts"].export_to_transformers(folder / "huggingface")
    for weights in [*folder.glob("*/*.weights.h5"), *folder.glob("*/*.safetensors")]:
        weights.write_bytes(b"")
    return folder


@pytest.fixture
def files(tmp_path):
    conll = tmp_path / "a.conll"
    conll.write_text(
        "\n".join(
            "".join(f"{word} {tag}\n" for word, tag in zip(words, tags, strict=True))
            for words, tags in zip(WORDS, TAGS, strict=True)
        )
    )
    jsonl = tmp_path / "a.jsonl"
    rows = [{"question": q, "context": c, "answers": [a or c]} for q, c, a in ROWS]
    jsonl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {TAGGING: str(conll), ASKING: str(jsonl)}


REFUSED = [
    (TAGGING, "softmax", {"ban_illegal_moves": True}, "Only a CRF can ban"),
    (TAGGING, "texts", {"ban_illegal_moves": True}, "Only a CRF can ban"),
    (TAGGING, "questions", {"ban_illegal_moves": True}, "Only a CRF can ban"),
    (TAGGING, "huggingface", {"ban_illegal_moves": True}, "Only a CRF can ban"),
    (TAGGING, "crf", {"class_weight": "balanced"}, "no weights of their own.*class_weight"),
    (TAGGING, "crf", {"label_all_pieces": True}, "one tag a word"),
    (TAGGING, "all pieces", {"crf": True}, "one tag a word"),
    # Rows of 13, 2 of them special tokens, and windows of 4 tokens apart unless told otherwise.
    (TAGGING, "softmax", {"stride": 12}, "hold 11 tokens.*stride=12"),
    (TAGGING, "softmax", {"stride": 10, "sequence_length": 11}, "hold 9 tokens.*stride=10"),
    (TAGGING, "softmax", {"sequence_length": 5}, "hold 3 tokens.*stride=4"),
    (TAGGING, "texts", {"stride": 10}, "hold 9 tokens.*stride=10"),
    (TAGGING, "huggingface", {"stride": 10}, "hold 9 tokens.*stride=10"),
    (TAGGING, "crf", {"sequence_length": 18}, "at most 17 tokens.*sequence_length=18"),
    # Rows of 16, 3 of them special tokens, and a question has a token too.
    (ASKING, "questions", {"stride": 13}, "hold 12 tokens.*stride=13"),
    (ASKING, "questions", {"sequence_length": 8}, "hold 4 tokens.*stride=5"),
    (ASKING, "huggingface", {"stride": 8}, "hold 7 tokens.*stride=8"),
    (ASKING, "texts", {"sequence_length": 4}, "room beside 4.*sequence_length=4"),
]


@pytest.mark.parametrize(("task", "preset", "settings", "message"), REFUSED)
def test_settings_that_do_not_fit_are_refused_before_the_weights_are_read(
    presets, files, tmp_path, task, preset, settings, message
):
    arguments = (task, str(presets / preset), files[task], files[task], tmp_path / "out")
    with pytest.raises(ValueError, match=message):
        finetune(*arguments, FinetuneConfig(**settings))
    assert not (tmp_path / "out").exists()


ACCEPTED = [
    (TAGGING, "crf", {"ban_illegal_moves": True}),
    (TAGGING, "softmax", {"ban_illegal_moves": True, "crf": True}),
    (TAGGING, "banning crf", {"crf": False}),
    (TAGGING, "all pieces", {"crf": True, "label_all_pieces": False}),
    (TAGGING, "softmax", {"stride": 11}),
    # More than the rows that were saved, and not than those that are wanted.
    (TAGGING, "softmax", {"stride": 14, "sequence_length": 16}),
    (TAGGING, "softmax", {"stride": 3, "sequence_length": 5}),
    (ASKING, "questions", {"stride": 12}),
    (ASKING, "questions", {"stride": 13, "sequence_length": 17}),
]


@pytest.mark.parametrize(("task", "preset", "settings"), ACCEPTED)
def test_settings_that_fit_are_loaded_with(
    presets, files, tmp_path, monkeypatch, task, preset, settings
):
    class Loaded(Exception):
        """Says that the checkpoint was to be loaded."""

    seen = {}

    def load(task_name, source, arguments, config, progress):
        seen.update(arguments)
        raise Loaded

    monkeypatch.setattr(module, "_load_task", load)
    arguments = (task, str(presets / preset), files[task], files[task], tmp_path / "out")
    with pytest.raises(Loaded):
        finetune(*arguments, FinetuneConfig(**settings))
    # The task itself agrees.
    made = task_class(task).from_preset(presets / preset, load_weights=False, **seen)
    assert made.preprocessor.sequence_length == settings.get(
        "sequence_length", seen["sequence_length"]
    )
    for name in {"stride", "label_all_pieces"} & set(settings):
        assert getattr(made.preprocessor, name) == settings[name]
    for name in {"crf", "ban_illegal_moves"} & set(settings):
        assert made.get_config()[name] == settings[name]
