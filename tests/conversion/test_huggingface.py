import json
import warnings

import keras
import ml_dtypes
import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file

from kerazoo.conversion.huggingface import huggingface_tensors, save_huggingface
from kerazoo.conversion.huggingface_config import read_huggingface_config
from kerazoo.conversion.source import open_checkpoint

LABELS = ["bad", "good", "mixed"]
SETTINGS = {
    "vocabulary": ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "good", "##s"],
    "lowercase": False,
    "strip_accents": True,
    "split_on_cjk": True,
    "max_characters_per_word": 100,
    "oov_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "mask_token": "[MASK]",
}


@pytest.fixture
def fields(config, make_folder):
    return read_huggingface_config(make_folder(None, config, name="config_only"))


@pytest.mark.parametrize("with_head", [False, True])
def test_read_and_written_again_is_bit_equal(
    tensors, with_prefix, make_folder, make_model, fields, same_values, tmp_path, with_head
):
    stored = with_prefix(tensors) if with_head else dict(list(tensors.items())[:-2])
    folder = make_folder(stored)
    model = make_model(with_head)
    open_checkpoint(folder).load_task(model)
    save_huggingface(model, fields, tmp_path / "out", labels=LABELS if with_head else None)
    same_values(load_file(tmp_path / "out" / "model.safetensors"), stored)
    with safe_open(tmp_path / "out" / "model.safetensors", "numpy") as file:
        assert file.metadata() == {"format": "pt"}
    again = open_checkpoint(tmp_path / "out")
    assert again.backbone_config() == fields
    assert again.labels() == (LABELS if with_head else None)


def test_a_half_precision_checkpoint_is_written_in_float32(
    tensors, make_folder, make_model, fields, same_values, tmp_path
):
    half = {n: t.astype(np.float16) for n, t in tensors.items() if "classifier" not in n}
    model = make_model()
    open_checkpoint(make_folder(half)).load_backbone(model)
    save_huggingface(model, fields, tmp_path / "out")
    wanted = {n: t.astype(np.float32) for n, t in half.items()}
    same_values(load_file(tmp_path / "out" / "model.safetensors"), wanted)


def test_the_tokenizer_is_written(make_model, fields, tmp_path):
    save_huggingface(make_model(), fields, tmp_path / "out", tokenizer=SETTINGS)
    source = open_checkpoint(tmp_path / "out")
    assert source.tokenizer_settings() == SETTINGS
    config = json.loads((tmp_path / "out" / "config.json").read_text())
    assert config["pad_token_id"] == 3
    assert config["architectures"] == ["BertModel"]
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        *("config.json", "model.safetensors", "vocab.txt", "tokenizer.json"),
        *("tokenizer_config.json", "special_tokens_map.json"),
    }


@pytest.mark.parametrize(("dropout", "written"), [(None, None), (0.2, None), (0.4, 0.4)])
def test_the_dropout_before_the_head(make_model, fields, tmp_path, dropout, written):
    save_huggingface(
        make_model(True), fields, tmp_path / "out", labels=LABELS, head_dropout=dropout
    )
    assert open_checkpoint(tmp_path / "out").head_dropout() == written


def test_another_model_is_not_overwritten(make_model, fields, tmp_path):
    (tmp_path / "config.json").write_text("kept")
    with pytest.raises(FileExistsError, match="nothing was written"):
        save_huggingface(make_model(), fields, tmp_path)
    assert [path.read_text() for path in tmp_path.glob("*.json")] == ["kept"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": ["a", "b"]}, "Received: 2 labels, 3 classes"),
        ({}, "no name for.*Received: classifier/kernel"),
        (
            {"labels": LABELS, "tokenizer": SETTINGS | {"vocabulary": [str(i) for i in range(32)]}},
            "larger than the model's embedding matrix",
        ),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(
    make_model, fields, tmp_path, arguments, message
):
    with pytest.raises(ValueError, match=message):
        save_huggingface(make_model(with_head=True), fields, tmp_path / "out", **arguments)
    assert not (tmp_path / "out").exists()


def test_a_weight_without_a_name(make_model):
    model = make_model()
    model.variables[3].path = "crf/transitions"
    with pytest.raises(ValueError, match="no name for.*Received: crf/transitions"):
        huggingface_tensors(model, with_head=False)


def test_a_real_backbone(make_tiny_backbone, tmp_path):
    backbone = make_tiny_backbone()
    backbone.export_to_transformers(tmp_path / "out")
    again = type(backbone).from_preset(tmp_path / "out")
    assert again.config == backbone.config
    assert again.load_report.is_complete
    for mine, other in zip(backbone.weights, again.weights, strict=True):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(other), err_msg=mine.path)


def test_lora_is_added_into_the_matrices(make_tiny_backbone):
    backbone = make_tiny_backbone()
    before = huggingface_tensors(backbone, with_head=False)
    backbone.enable_lora(rank=2)
    random = np.random.default_rng(5)
    changed = 0
    for variable in backbone.weights:
        if "lora" in variable.path:
            variable.assign(random.standard_normal(variable.shape))
            changed += 1
    assert changed
    after = huggingface_tensors(backbone, with_head=False)
    assert after.keys() == before.keys()
    moved = {name for name in before if (before[name] != after[name]).any()}
    assert len(moved) == changed / 2


@pytest.mark.slow
def test_a_quantized_model_is_refused(make_tiny_backbone):
    backbone = make_tiny_backbone()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Keras says that dropout layers stay as they are
        backbone.quantize("int8")
    with pytest.raises(ValueError, match="quantiz"):
        huggingface_tensors(backbone, with_head=False)


def test_a_bfloat16_model_is_written_in_float32(make_tiny_backbone):
    tensors = huggingface_tensors(make_tiny_backbone(dtype="bfloat16"), with_head=False)
    for name, values in tensors.items():
        assert values.dtype == np.float32, name
        np.testing.assert_array_equal(values, values.astype(ml_dtypes.bfloat16).astype("float32"))


def test_options_that_huggingface_lacks_are_said(
    make_tiny_backbone, tiny_vocabulary, tmp_path, fields
):
    from kerazoo import WordPieceTokenizer

    tokenizer = WordPieceTokenizer(tiny_vocabulary, map_quotes=True)
    backbone = make_tiny_backbone()
    with pytest.warns(UserWarning, match="no option 'map_quotes'"):
        save_huggingface(backbone, backbone.config, tmp_path / "out", tokenizer=tokenizer)
    assert open_checkpoint(tmp_path / "out").tokenizer_settings()["vocabulary"] == tiny_vocabulary


CHANGES = [
    {},
    {"layer_norm_eps": 1e-3},
    {"hidden_act": "gelu_new"},
    {"hidden_act": "relu"},
    {"type_vocab_size": 2, "max_position_embeddings": 13},
    {"num_attention_heads": 5, "initializer_range": 0.5},
]


@pytest.mark.transformers
@pytest.mark.parametrize("changes", CHANGES, ids=str)
def test_from_transformers_and_back(tmp_path, config, same_values, changes):
    """Logits as transformers computes them; written again, the same tensors and equal logits."""
    import torch
    import transformers

    import kerazoo

    torch.manual_seed(3)
    settings = transformers.BertConfig(**config | {"initializer_range": 0.3} | changes)
    reference = transformers.BertForSequenceClassification(settings).eval()
    for name, parameter in reference.named_parameters():  # biases and norms are trivial at first
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, 1.0 if name.endswith("Norm.weight") else 0.0, 0.3)
    reference.save_pretrained(tmp_path / "in")
    vocabulary = SETTINGS["vocabulary"]
    (tmp_path / "in" / "vocab.txt").write_text("".join(f"{token}\n" for token in vocabulary))
    task = kerazoo.TextClassifier.from_preset(tmp_path / "in", sequence_length=7)
    task.export_to_transformers(tmp_path / "out")
    same_values(
        load_file(tmp_path / "out" / "model.safetensors"),
        load_file(tmp_path / "in" / "model.safetensors"),
    )
    texts = ["goods good good", "good", "goods x goods"]
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    batch = tokenizer(texts, padding="max_length", max_length=7, return_tensors="pt")
    written = transformers.AutoModelForSequenceClassification.from_pretrained(
        tmp_path / "out", attn_implementation="eager"
    ).eval()
    eager = transformers.AutoModelForSequenceClassification.from_pretrained(
        tmp_path / "in", attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        logits = eager(**batch).logits.numpy()
        again = written(**batch).logits.numpy()
    # Equal weights; PyTorch rounds by where they lie in memory, even between two loads of one file.
    same_values(
        {name: values.numpy() for name, values in written.state_dict().items()},
        {name: values.numpy() for name, values in eager.state_dict().items()},
    )
    np.testing.assert_allclose(again, logits, atol=2e-6)
    assert np.ptp(logits) > 0.01
    mine = keras.ops.convert_to_numpy(task(task.preprocessor(texts)))
    np.testing.assert_allclose(mine, logits, atol=1e-5)
    assert written.config.id2label == {0: "bad", 1: "good", 2: "mixed"}
