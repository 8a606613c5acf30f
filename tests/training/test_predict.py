import json

import pytest
from tiny_extractive_qa import tiny_extractive_qa

from kerazoo.data.row import Row
from kerazoo.training.generation_settings import GenerationSettings
from kerazoo.training.predict import predict

SHORT = GenerationSettings(max_new_tokens=3)


def test_rows_are_answered_in_order(preset, tiny_text_classifier, seven_rows):
    answers = list(predict(preset, seven_rows, batch_size=2))
    texts = [row.values["text"] for row in seven_rows]
    assert [answer["text"] for answer in answers] == texts
    for answer, expected in zip(answers, tiny_text_classifier.classify(texts), strict=True):
        assert list(answer) == ["text", "label", "score", "probabilities"]
        assert answer["score"] == pytest.approx(expected["score"], abs=1e-6)


def test_rows_are_read_while_answers_are_taken(preset):
    read = []

    def endless():
        while True:
            read.append(1)
            yield Row(len(read), {"text": "good"})

    answers = predict(preset, endless(), batch_size=3)
    next(answers)
    assert len(read) == 3
    for _ in range(3):
        next(answers)
    assert len(read) == 3 + 3 * 16


def test_a_wrong_file_is_told_before_the_model_is_loaded(preset, monkeypatch):
    def wrong():
        raise ValueError("a.tsv, line 1: wrong")
        yield

    def refuse(*arguments):
        raise AssertionError("the model was loaded")

    monkeypatch.setattr("kerazoo.training.predict.open_predictor", refuse)
    with pytest.raises(ValueError, match="line 1: wrong"):
        next(predict(preset, wrong()))


def test_pairs_for_a_model_of_single_texts_are_refused(preset):
    rows = [Row(2, {"text": "a", "text_pair": "b"})]
    with pytest.raises(ValueError, match="The model reads one text"):
        list(predict(preset, rows))


def test_what_is_wrong_with_a_row_is_said_with_its_place(make_tiny_masked_lm, tmp_path):
    make_tiny_masked_lm().save_to_preset(tmp_path / "masked")
    rows = [Row(number, {"text": "a [MASK]"}) for number in range(2, 42)] + [Row(55, {"text": "a"})]
    with pytest.raises(ValueError, match=r"^line 55: the text has no \[MASK\].*text='a'"):
        list(predict(tmp_path / "masked", rows, batch_size=2))
    (tmp_path / "a.txt").write_text("a [MASK]\n" * 12 + "[MASK] " * 14 + "\n")
    with pytest.raises(ValueError, match=r"a\.txt, line 13: the text has a \[MASK\] behind"):
        list(predict(tmp_path / "masked", str(tmp_path / "a.txt"), batch_size=2))


def test_a_question_that_is_too_long_is_said_with_its_place(tmp_path):
    tiny_extractive_qa().save_to_preset(tmp_path / "qa")
    row = {"context": "a film", "question": "a good film?"}
    rows = [row, row, {**row, "question": "good " * 40}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match=r"a\.jsonl, line 3: the question has 40 tokens"):
        list(predict(tmp_path / "qa", str(tmp_path / "a.jsonl"), batch_size=2))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("", "line 36: the prompt has no token.*Received: text=''"),
        ("good " * 36, r"line 36: the model has 37 positions.*Received: 38 \+ 3 tokens"),
    ],
)
def test_a_prompt_that_cannot_be_continued_is_said_with_its_place(
    tiny_causal_lm, tmp_path, monkeypatch, wrong, message
):
    tiny_causal_lm.save_to_preset(tmp_path / "lm")
    (tmp_path / "a.txt").write_text("good\n" * 35 + wrong + "\ngood\n")
    monkeypatch.setattr(
        "kerazoo.tasks.causal_lm.CausalLM.generate",
        lambda self, prompts, **_: [f"{prompt} on" for prompt in prompts],
    )
    answers = predict(tmp_path / "lm", str(tmp_path / "a.txt"), 2, generation=SHORT)
    with pytest.raises(ValueError, match=rf"^\S*a\.txt, {message}"):
        list(answers)


def test_a_batch_of_zero_is_refused(preset, seven_rows):
    with pytest.raises(ValueError, match="`batch_size` must be a number above zero"):
        list(predict(preset, seven_rows, batch_size=0))


def test_truncated_texts_are_said_once(preset, capsys):
    from kerazoo.training.progress import Progress

    rows = [Row(number, {"text": "good " * (50 * (number % 2))}) for number in range(1, 8)]
    assert len(list(predict(preset, rows, 2, Progress()))) == 7
    assert capsys.readouterr().err.count("4 of 7 texts are longer than 9 tokens") == 1
