import json
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.conversion.source import CheckpointSource, detect_format, open_checkpoint

VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "good", "##s"]
LINES = "".join(f"{token}\n" for token in VOCABULARY)


@pytest.fixture
def google_folder(tmp_path, config):
    folder = tmp_path / "uncased_L-2_H-20_A-4"
    folder.mkdir()
    (folder / "bert_config.json").write_text(json.dumps(config))
    (folder / "vocab.txt").write_text(LINES)
    tf.raw_ops.SaveV2(
        prefix=str(folder / "bert_model.ckpt"),
        tensor_names=["bert/embeddings/LayerNorm/gamma", "global_step"],
        shape_and_slices=["", ""],
        tensors=[tf.ones(20), tf.constant(3)],
    )
    return folder


def test_huggingface(tensors, with_prefix, make_folder, make_model, expected, same_values):
    folder = make_folder(with_prefix(tensors), files={"vocab.txt": LINES})
    source = open_checkpoint(str(folder))
    assert source == CheckpointSource(folder, "huggingface")
    assert open_checkpoint(source) is source
    assert source.backbone_config()["hidden_dim"] == 20
    assert source.max_sequence_length == source.backbone_config()["max_sequence_length"] == 11
    assert source.tokenizer_settings()["vocabulary"] == VOCABULARY
    assert source.labels() == ["bad", "good", "mixed"]
    model = make_model(with_head=True)
    assert source.load_task(model).is_complete
    same_values(model.values(), expected(tensors, with_head=True))


def test_a_head_for_other_labels_is_left_out(tensors, with_prefix, make_folder, make_model):
    source = open_checkpoint(make_folder(with_prefix(tensors)))
    report = source.load_task(make_model(with_head=True), with_head=False)
    assert report.missing == ("classifier/kernel", "classifier/bias")
    assert source.load_backbone(make_model()).missing == ()


def test_google(google_folder, make_model):
    source = open_checkpoint(google_folder)
    assert source.format == "google_tf1"
    assert source.backbone_config()["num_heads"] == 4
    assert source.max_sequence_length == 11
    assert source.tokenizer_settings() == {"vocabulary": VOCABULARY, "lowercase": True}
    assert (source.labels(), source.head_dropout()) == (None, None)
    assert source.task_config("text-classification") == {}
    with pytest.raises(ValueError, match="lacks the backbone weight 'embeddings/word_embeddings'"):
        source.load_backbone(make_model())


def test_the_tokenizer(make_folder, tensors):
    settings = {"do_lower_case": False}
    files = {"vocab.txt": LINES, "tokenizer_config.json": json.dumps(settings)}
    tokenizer = open_checkpoint(make_folder(tensors, files=files)).tokenizer()
    assert tokenizer.tokenize(["goods Good"]).to_list() == [[5, 6, 0]]
    assert tokenizer.pad_token_id == 3


@pytest.mark.parametrize(
    ("changes", "task", "arguments"),
    [
        ({}, "text-classification", {"labels": ["bad", "good", "mixed"]}),
        (
            {"classifier_dropout": 0.4},
            "text-classification",
            {"labels": ["bad", "good", "mixed"], "dropout": 0.4},
        ),
        ({"architectures": ["BertModel"]}, "text-classification", {}),
        ({}, "token-classification", {}),
        ({}, "multiple-choice", {}),
        (
            {"architectures": ["BertForMultipleChoice"], "classifier_dropout": 0.4},
            "multiple-choice",
            {"pooling": "pooled", "dropout": 0.4},
        ),
        ({"architectures": ["BertForMultipleChoice"]}, "text-classification", {}),
    ],
)
def test_arguments_of_a_task_whose_head_is_there(make_folder, config, changes, task, arguments):
    assert open_checkpoint(make_folder(None, config | changes)).task_config(task) == arguments


def test_a_vocabulary_of_another_model(make_folder, tensors):
    lines = LINES + "".join(f"word{number}\n" for number in range(25))
    source = open_checkpoint(make_folder(tensors, files={"vocab.txt": lines}))
    with pytest.raises(ValueError, match="Received: 32 tokens, vocab_size=31"):
        source.tokenizer_settings()


def test_a_kerazoo_preset(tiny_backbone, tmp_path):
    tiny_backbone.save_to_preset(tmp_path)
    source = open_checkpoint(tmp_path)
    assert source.format == "kerazoo"
    assert source.max_sequence_length == tiny_backbone.config.max_sequence_length
    for read in (source.backbone_config, source.tokenizer_settings, source.labels):
        with pytest.raises(ValueError, match="is read with from_preset"):
            read()


def test_no_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder.*hf://organisation/name"):
        open_checkpoint(tmp_path / "absent")


def test_a_file(tmp_path):
    path = tmp_path / "model.safetensors"
    path.touch()
    with pytest.raises(ValueError, match="name the folder that holds this file"):
        detect_format(path)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([], "It is empty"),
        (["notes.txt"], "It holds: notes.txt"),
        (["saved_model.pb", "variables"], "exported SavedModel: give the preset"),
        (["2/saved_model.pb"], "exported SavedModel: give the preset"),
        ([f"{letter}.txt" for letter in "abcdefgh"], "a.txt, .*f.txt, …"),
        (["config.json"], "It holds: config.json"),
    ],
)
def test_a_folder_that_is_no_checkpoint(tmp_path, names, found):
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    with pytest.raises(ValueError, match=f"is no checkpoint.*{found}.*Expected") as error:
        detect_format(tmp_path)
    assert str(tmp_path) in str(error.value)


def test_a_damaged_config_is_named(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "be')
    with pytest.raises(ValueError, match="config.json, line 1: not valid JSON"):
        open_checkpoint(tmp_path)


def test_a_config_of_a_preset_that_lacks_its_numbers_is_named(tmp_path):
    (tmp_path / "config.json").write_text('{"class_name": "BertBackbone"}')
    with pytest.raises(ValueError, match=r"config\.json names a class and lacks its `config`"):
        detect_format(tmp_path)


def test_tilde_is_the_home_folder(monkeypatch, make_folder, tensors):
    folder = make_folder(tensors)
    monkeypatch.setenv("HOME", str(folder.parent))
    assert open_checkpoint(Path("~/model")).folder == folder


def test_logits_do_not_depend_on_the_layout(
    tensors, with_prefix, make_folder, tmp_path, config, write_torch, write_h5
):
    """The same weights in three layouts give the same model."""
    import kerazoo

    folders = [make_folder(with_prefix(tensors), files={"vocab.txt": LINES})]
    for name, write in (("pytorch_model.bin", write_torch), ("tf_model.h5", write_h5)):
        folder = make_folder(None, name=name, files={"vocab.txt": LINES})
        write(folder / name, with_prefix(tensors))
        folders.append(folder)
    logits = []
    for folder in folders:
        task = kerazoo.TextClassifier.from_preset(folder, sequence_length=7)
        assert task.labels == ["bad", "good", "mixed"]
        assert task.load_report.is_complete
        inputs = task.preprocessor(["goods good", "", "[SEP] x"])
        logits.append(keras.ops.convert_to_numpy(task(inputs)))
    assert np.ptp(logits[0]) > 0.1
    np.testing.assert_array_equal(logits[0], logits[1])
    np.testing.assert_array_equal(logits[0], logits[2])
