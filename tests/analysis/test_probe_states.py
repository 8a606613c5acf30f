import keras
import numpy as np
import pytest

from kerazoo.analysis.analysed_model import AnalysedModel
from kerazoo.analysis.packed_texts import pack_texts
from kerazoo.analysis.probe_data import ProbeData
from kerazoo.analysis.probe_states import StateSettings, probe_states, states_key

SENTENCES = [("the", "films", "played", "."), ("电", "影", "bad")]
WORDS = ProbeData("token", SENTENCES, [("a", "b", "c", "d"), ("a", "b", "c")])
TEXTS = ProbeData("sequence", [("the films .",), ("bad",), ("not good",)], [("x",), ("y",), ("x",)])


def hidden_states(model, text):
    """Every layer's states of one text, (layers + 1, seq, hidden)."""
    packed = pack_texts(model, [(text,)], 13)
    states = model.backbone.hidden_states(packed.inputs_of(model.backbone))
    return np.stack([keras.ops.convert_to_numpy(state)[0] for state in states])


@pytest.mark.parametrize("pooling", ["first", "last", "mean"])
def test_states_of_words(pooling, sharp_bert, tmp_path):
    model = AnalysedModel(*sharp_bert)
    found = probe_states(model, WORDS, StateSettings(pooling, 13), tmp_path)
    assert found.states.shape == (4, 7, 20)
    assert found.rows.tolist() == [0, 0, 0, 0, 1, 1, 1]
    assert found.words.tolist() == [0, 1, 2, 3, 0, 1, 2]
    # [CLS] the film ##s play ##ed . [SEP]
    expected = hidden_states(model, "the films played .")
    pieces = {"first": [2], "last": [3], "mean": [2, 3]}[pooling]
    np.testing.assert_allclose(found.states[:, 1], expected[:, pieces].mean(axis=1), atol=1e-5)
    np.testing.assert_allclose(found.states[:, 3], expected[:, 6], atol=1e-5)


@pytest.mark.parametrize("pooling", ["first", "last", "mean"])
def test_states_of_texts(pooling, sharp_bert, tmp_path):
    model = AnalysedModel(*sharp_bert)
    found = probe_states(model, TEXTS, StateSettings(pooling, 13), tmp_path, batch_size=2)
    assert found.states.shape == (4, 3, 20) and found.rows.tolist() == [0, 1, 2]
    expected = hidden_states(model, "not good")[:, :4]
    expected = {"first": expected[:, 0], "last": expected[:, 3], "mean": expected.mean(axis=1)}
    np.testing.assert_allclose(found.states[:, 2], expected[pooling], atol=1e-5)


def test_words_behind_the_limit_and_without_a_token_are_left_out(sharp_bert, tmp_path):
    data = ProbeData(
        "token", [("the", "films", "bad"), ("\u200b", "good")], [tuple("abc"), tuple("ab")]
    )
    found = probe_states(AnalysedModel(*sharp_bert), data, StateSettings("first", 5), tmp_path)
    assert list(zip(found.rows.tolist(), found.words.tolist(), strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 1),
    ]


def test_texts_without_a_token_have_no_state(sharp_bert, make_sharp_gpt, tmp_path):
    rows = [("\u200b",), ("a fi",)]
    data = ProbeData("sequence", rows, [("x",), ("y",)])
    model = AnalysedModel(*sharp_bert)
    found = probe_states(model, data, StateSettings("first", 13), tmp_path, batch_size=1)
    assert found.rows.tolist() == [1] and found.states.shape == (4, 1, 20)
    np.testing.assert_allclose(found.states[:, 0], hidden_states(model, "a fi")[:, 0], atol=1e-5)


def test_states_of_words_of_a_language_model(make_sharp_gpt, tmp_path):
    model = AnalysedModel(*make_sharp_gpt())
    data = ProbeData("token", [("the", "fifth"), ("oo",)], [("a", "b"), ("a",)])
    found = probe_states(model, data, StateSettings("last", 40), tmp_path)
    expected = hidden_states(model, "the fifth")
    length = pack_texts(model, [("the fifth",)], 40).lengths[0]
    np.testing.assert_allclose(found.states[:, 1], expected[:, length - 1], atol=1e-5)
    assert len(found.rows) == 3


def test_states_are_computed_once(sharp_bert, tmp_path, monkeypatch):
    model = AnalysedModel(*sharp_bert)
    settings = StateSettings("mean", 13)
    first = probe_states(model, TEXTS, settings, tmp_path)

    def fail(*arguments):
        raise AssertionError("computed again")

    monkeypatch.setattr(type(model.backbone), "hidden_states", fail)
    again = probe_states(model, TEXTS, settings, tmp_path)
    np.testing.assert_array_equal(first.states, again.states)
    with pytest.raises(AssertionError):
        probe_states(model, WORDS, settings, tmp_path)
    assert len(list(tmp_path.iterdir())) == 1  # what failed left nothing


def test_the_key_changes_with_model_data_and_settings(make_tiny_backbone, tiny_tokenizer):
    model = AnalysedModel(make_tiny_backbone(), tiny_tokenizer)
    settings = StateSettings("first", 9)
    keys = [states_key(model, TEXTS, settings)]
    labels = ProbeData("sequence", TEXTS.rows, [("y",), ("y",), ("x",)])
    assert states_key(model, labels, settings) == keys[0]  # labels change no state
    assert (
        states_key(AnalysedModel(make_tiny_backbone(), tiny_tokenizer), TEXTS, settings) == keys[0]
    )
    keys.append(states_key(model, WORDS, settings))
    keys.append(states_key(model, TEXTS, StateSettings("last", 9)))
    keys.append(states_key(model, TEXTS, StateSettings("first", 8)))
    bias = model.backbone.transformer_layers[1].attention.value.bias
    bias.assign(keras.ops.convert_to_numpy(bias) + 1e-3)
    keys.append(states_key(model, TEXTS, settings))
    other = AnalysedModel(make_tiny_backbone(activation="relu"), tiny_tokenizer)
    keys.append(states_key(other, TEXTS, settings))
    assert len(set(keys)) == len(keys)


def test_an_unknown_pooling_is_refused():
    with pytest.raises(ValueError, match="pooling='cls'"):
        StateSettings("cls", 9)
