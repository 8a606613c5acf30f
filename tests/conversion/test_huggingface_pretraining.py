"""BertForPreTraining, BertForMaskedLM and BertForNextSentencePrediction, there and back."""

import numpy as np
import pytest
from keras import ops
from safetensors.numpy import load_file

import kerazoo
from kerazoo.conversion.source import open_checkpoint

VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "good", "##s", "film", "a", "is"]
FILES = {"vocab.txt": "".join(f"{token}\n" for token in VOCABULARY)}
WORD_EMBEDDINGS = "bert.embeddings.word_embeddings.weight"
OUTPUT_BIAS = "cls.predictions.bias"
ARCHITECTURES = {
    "BertForPreTraining": ("bert-pretraining", "BertPretrainer"),
    "BertForMaskedLM": ("masked-lm", "MaskedLM"),
    "BertForNextSentencePrediction": ("next-sentence", "NextSentencePredictor"),
}
LEFT_OUT = {
    "BertForPreTraining": (),
    "BertForMaskedLM": ("bert.pooler", "cls.seq"),
    "BertForNextSentencePrediction": ("cls.predictions",),
}


def old_names(tensors):
    return {
        name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): values
        for name, values in tensors.items()
    }


@pytest.fixture
def folder_of(pretraining_tensors, make_folder, config):
    """A function: a folder of an architecture with its own tensors, some of them changed."""

    def make(architecture="BertForPreTraining", changes=(), rename=dict, **options):
        tensors = {
            name: values
            for name, values in pretraining_tensors.items()
            if not name.startswith(LEFT_OUT[architecture])
        }
        tensors |= dict(changes)
        tensors = {name: values for name, values in tensors.items() if values is not None}
        for key in ("id2label", "label2id"):
            config.pop(key, None)
        contents = config | {"architectures": [architecture]}
        return make_folder(rename(tensors), config=contents, files=FILES, **options)

    return make


def weights_of(task):
    return {weight.path: ops.convert_to_numpy(weight) for weight in task.weights}


@pytest.mark.parametrize("rename", [dict, old_names])
@pytest.mark.parametrize("tied", ["once", "decoder too", "decoder's bias only"])
def test_every_spelling_of_the_heads(folder_of, pretraining_tensors, rename, tied):
    tensors = pretraining_tensors
    changes = {
        "once": {},
        "decoder too": {
            "cls.predictions.decoder.weight": tensors[WORD_EMBEDDINGS],
            "cls.predictions.decoder.bias": tensors[OUTPUT_BIAS],
        },
        "decoder's bias only": {
            "cls.predictions.decoder.bias": tensors[OUTPUT_BIAS],
            OUTPUT_BIAS: None,
        },
    }[tied]
    task = kerazoo.BertPretrainer.from_preset(folder_of(changes=changes, rename=rename))
    assert task.load_report.is_complete, str(task.load_report)
    weights = weights_of(task)
    np.testing.assert_array_equal(
        weights["masked_lm/dense/kernel"],
        tensors["cls.predictions.transform.dense.weight"].T,
    )
    np.testing.assert_array_equal(weights["masked_lm/bias"], tensors[OUTPUT_BIAS])
    np.testing.assert_array_equal(
        weights["masked_lm/layer_norm/gamma"],
        tensors["cls.predictions.transform.LayerNorm.weight"],
    )
    np.testing.assert_array_equal(
        weights["next_sentence/kernel"], tensors["cls.seq_relationship.weight"].T
    )


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_read_and_written_again_is_bit_equal(folder_of, same_values, tmp_path, architecture):
    task_name, class_name = ARCHITECTURES[architecture]
    folder = folder_of(architecture)
    source = open_checkpoint(folder)
    assert source.task_name() == task_name
    assert source.labels() is None
    task = getattr(kerazoo, class_name).from_preset(source)
    assert task.load_report.unused == ()
    pooler = {"pooler/dense/kernel", "pooler/dense/bias"}
    assert set(task.load_report.missing) == (pooler if class_name == "MaskedLM" else set())
    task.export_to_transformers(tmp_path / "out")
    same_values(
        load_file(tmp_path / "out" / "model.safetensors"), load_file(folder / "model.safetensors")
    )
    assert open_checkpoint(tmp_path / "out").task_name() == task_name


@pytest.mark.parametrize(
    ("class_name", "missing", "unused"),
    [
        ("MaskedLM", (), {"cls.seq_relationship.weight", "cls.seq_relationship.bias"}),
        ("NextSentencePredictor", (), {OUTPUT_BIAS, "cls.predictions.transform.dense.weight"}),
        ("TextClassifier", ("classifier/kernel", "classifier/bias"), {OUTPUT_BIAS}),
    ],
)
def test_the_report_says_what_became_of_the_heads(folder_of, class_name, missing, unused):
    arguments = {"labels": ["a", "b"]} if class_name == "TextClassifier" else {}
    task = getattr(kerazoo, class_name).from_preset(folder_of(), **arguments)
    assert task.load_report.missing == missing
    assert unused <= set(task.load_report.unused)
    assert "not used by this model" in str(task.load_report)


def test_a_head_that_is_missing_is_said(folder_of):
    task = kerazoo.BertPretrainer.from_preset(folder_of("BertForNextSentencePrediction"))
    assert "masked_lm/bias" in task.load_report.missing
    assert "next_sentence/kernel" in task.load_report.loaded


def test_a_matrix_of_its_own_is_refused_where_it_matters(folder_of, pretraining_tensors):
    own = {"cls.predictions.decoder.weight": pretraining_tensors[WORD_EMBEDDINGS] + 1}
    folder = folder_of(changes=own)
    with pytest.raises(ValueError, match="tie_word_embeddings=false.*'cls.predictions.decoder"):
        kerazoo.MaskedLM.from_preset(folder)
    for class_name in ("NextSentencePredictor", "BertBackbone"):
        model = getattr(kerazoo, class_name).from_preset(folder)
        assert "cls.predictions.decoder.weight" in model.load_report.unused


def test_labels_of_next_sentences_are_not_written(folder_of, tmp_path):
    task = kerazoo.NextSentencePredictor.from_preset(
        folder_of("BertForNextSentencePrediction"), labels=["follows", "does not"]
    )
    task.export_to_transformers(tmp_path / "out")
    assert "id2label" not in (tmp_path / "out" / "config.json").read_text()


@pytest.mark.transformers
@pytest.mark.parametrize("activation", ["gelu", "gelu_new"])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_logits_equal_transformers_there_and_back(
    tmp_path, config, same_values, architecture, activation
):
    import torch
    import transformers

    for key in ("id2label", "label2id", "architectures"):
        config.pop(key)
    changes = {"initializer_range": 0.3, "hidden_act": activation, "layer_norm_eps": 1e-5}
    torch.manual_seed(5)
    reference = getattr(transformers, architecture)(transformers.BertConfig(**config | changes))
    for name, parameter in reference.named_parameters():  # biases and norms are trivial at first
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, 1.0 if name.endswith("Norm.weight") else 0.0, 0.3)
    reference.save_pretrained(tmp_path / "in")
    (tmp_path / "in" / "vocab.txt").write_text(FILES["vocab.txt"])
    task = getattr(kerazoo, ARCHITECTURES[architecture][1]).from_preset(
        tmp_path / "in", sequence_length=7
    )
    task.export_to_transformers(tmp_path / "out")
    same_values(
        load_file(tmp_path / "out" / "model.safetensors"),
        load_file(tmp_path / "in" / "model.safetensors"),
    )
    written, info = getattr(transformers, architecture).from_pretrained(
        tmp_path / "out", attn_implementation="eager", output_loading_info=True
    )
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    ids = np.array([[1, 5, 4, 8, 2, 4, 2], [1, 4, 2, 3, 3, 3, 3], [1, 7, 9, 2, 4, 2, 3]], "int32")
    features = {
        "token_ids": ids,
        "segment_ids": np.array([[0] * 5 + [1] * 2, [0] * 7, [0] * 4 + [1] * 2 + [0]], "int32"),
        "padding_mask": (ids != 3).astype("int32"),
        "mask_positions": np.array([[2, 5], [1, 0], [4, 0]], "int32"),
    }
    with torch.no_grad():
        outputs = written.eval()(
            input_ids=torch.tensor(ids).long(),
            token_type_ids=torch.tensor(features["segment_ids"]).long(),
            attention_mask=torch.tensor(features["padding_mask"]),
        )
    mine = task({key: features[key] for key in task.input}, training=False)
    mine = mine if isinstance(mine, dict) else {ARCHITECTURES[architecture][0]: mine}
    theirs = {
        "masked-lm": outputs.get("logits"),
        "next-sentence": outputs.get("logits"),
        "masked_lm": outputs.get("prediction_logits"),
        "next_sentence": outputs.get("seq_relationship_logits"),
    }
    for key, logits in mine.items():
        expected = theirs[key].numpy()
        if key.startswith("masked"):
            expected = np.take_along_axis(expected, features["mask_positions"][..., None], 1)
        assert np.ptp(expected) > 0.1
        np.testing.assert_allclose(ops.convert_to_numpy(logits), expected, atol=1e-5)
