import numpy as np
import pytest
import tensorflow as tf

from kerazoo.export.verify import verify_saved_model
from kerazoo.tasks.causal_lm import CausalLM
from kerazoo.tasks.causal_lm_signatures import causal_lm_signatures

pytestmark = pytest.mark.tensorflow

PROMPTS = ["the good", "x", "good good the 电影 the good", ""]
COUNTS = [5, 9, 3, 4]


@pytest.fixture(scope="module")
def task(make_tiny_causal_lm):
    task = make_tiny_causal_lm()
    task.compile(jit_compile=False)
    return task


@pytest.fixture(scope="module")
def version(task, tmp_path_factory):
    return task.export(tmp_path_factory.mktemp("exported") / "writer")


@pytest.fixture(scope="module")
def served(version):
    loaded = tf.saved_model.load(str(version))

    def call(signature="generate", **inputs):
        function = loaded.signatures[signature]
        outputs = function(**{name: tf.constant(value) for name, value in inputs.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    return call


def settings(rows, **given):
    values = {
        "max_new_tokens": np.full(rows, 6, "int32"),
        "temperature": np.zeros(rows, "float32"),
        "top_k": np.zeros(rows, "int32"),
        "top_p": np.ones(rows, "float32"),
        "seed": np.zeros(rows, "int32"),
    }
    return {**values, **{name: np.asarray(v, values[name].dtype) for name, v in given.items()}}


@pytest.mark.slow
def test_stock_serving_would_serve_it(version):
    report = verify_saved_model(version)
    assert report.ok, str(report)
    assert set(report.signatures) == {"serving_default", "generate"}


@pytest.mark.slow
def test_greedy_texts_equal_generate(task, served):
    outputs = served(text=PROMPTS[:3], **settings(3, max_new_tokens=COUNTS[:3]))
    for prompt, count, text in zip(PROMPTS, COUNTS, outputs["generated_text"], strict=False):
        expected = task.generate(prompt, max_new_tokens=count, strip_prompt=True)
        assert text.decode() == expected
    assert outputs["num_tokens"].tolist() == COUNTS[:3]


def test_the_default_adds_a_fixed_number_of_tokens(task, served):
    outputs = served("serving_default", text=PROMPTS[:1])
    limit = task.backbone.config.max_sequence_length
    assert outputs["num_tokens"][0] <= limit - 1
    (ids,) = task.preprocessor.prompt_ids(PROMPTS[:1])
    # 64 tokens do not fit 37 positions, so the prompt keeps its last token only.
    assert len(ids) + 64 > limit
    text = task.preprocessor.texts([ids[-1:]])[0]
    expected = task.generate(text, max_new_tokens=limit - 1, strip_prompt=True)
    assert outputs["generated_text"][0].decode() == expected


def test_rows_have_settings_of_their_own(served):
    given = settings(4, max_new_tokens=COUNTS, temperature=[0, 1, 2, 1], top_k=[0, 0, 5, 1])
    given["seed"] = np.array([1, 2, 3, 4], "int32")
    together = served(text=PROMPTS, **given)["generated_text"]
    for row, prompt in enumerate(PROMPTS):
        alone = served(text=[prompt], **{k: v[row : row + 1] for k, v in given.items()})
        assert alone["generated_text"][0] == together[row]
    given["seed"] += 10
    again = served(text=PROMPTS, **given)["generated_text"]
    assert again[0] == together[0]
    assert again[2] != together[2]


def test_odd_requests_are_answered(task, served):
    long = "the good " * 60
    outputs = served(text=[long, "", "x"], **settings(3, max_new_tokens=[6, 0, 9999]))
    assert outputs["num_tokens"].tolist()[:2] == [6, 1]
    assert outputs["num_tokens"][2] == task.backbone.config.max_sequence_length - 1
    room = task.backbone.config.max_sequence_length - 6
    (ids,) = task.preprocessor.prompt_ids([long])
    end = task.preprocessor.texts([ids[-room:]])[0]
    expected = task.generate(end, max_new_tokens=6, strip_prompt=True)
    assert outputs["generated_text"][0].decode() == expected
    nothing = served(text=np.array([], dtype="S1"), **settings(0))
    assert nothing["generated_text"].shape == nothing["num_tokens"].shape == (0,)


def test_every_answer_is_valid_utf8(served):
    rows = 40
    given = settings(rows, temperature=[3.0] * rows, max_new_tokens=[12] * rows)
    given["seed"] = np.arange(rows, dtype="int32")
    texts = served(text=["电影"] * rows, **given)["generated_text"]
    assert len({text.decode("utf-8") for text in texts}) > rows / 2
    assert any("\ufffd" in text.decode("utf-8") for text in texts)


def test_a_task_without_a_tokenizer_is_refused(make_tiny_gpt):
    with pytest.raises(ValueError, match="exported with its tokenizer"):
        causal_lm_signatures(CausalLM(make_tiny_gpt()))
