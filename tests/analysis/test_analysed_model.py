import pytest

from kerazoo.analysis.analysed_model import AnalysedModel


def test_a_task_brings_backbone_and_tokenizer(tiny_text_classifier):
    found = AnalysedModel.of(tiny_text_classifier)
    assert found.backbone is tiny_text_classifier.backbone
    assert found.tokenizer is tiny_text_classifier.preprocessor.tokenizer
    assert AnalysedModel.of(found) == found


def test_a_backbone_needs_a_tokenizer(tiny_backbone, tiny_tokenizer):
    assert AnalysedModel.of(tiny_backbone, tiny_tokenizer).tokenizer is tiny_tokenizer
    with pytest.raises(ValueError, match="tokenizer=….* Received: BertBackbone"):
        AnalysedModel.of(tiny_backbone)


def test_what_is_no_model_is_refused(tiny_tokenizer):
    with pytest.raises(ValueError, match="Give a kerazoo task.* Received: dict"):
        AnalysedModel.of({}, tiny_tokenizer)


def test_another_models_tokenizer_is_refused(tiny_backbone, tiny_bpe_tokenizer):
    with pytest.raises(ValueError, match="entries=264, vocabulary_size=31"):
        AnalysedModel.of(tiny_backbone, tiny_bpe_tokenizer)


@pytest.mark.parametrize("kind", ["preset", "huggingface"])
def test_a_folder_brings_both(kind, tiny_text_classifier, tmp_path):
    folder = tmp_path / kind
    if kind == "preset":
        tiny_text_classifier.save_to_preset(folder)
    else:
        tiny_text_classifier.export_to_transformers(folder)
    found = AnalysedModel.of(str(folder))
    assert found.backbone.config == tiny_text_classifier.backbone.config
    assert found.tokenizer.get_vocabulary() == found.tokenizer.get_vocabulary()
    assert len(found.tokenizer.get_vocabulary()) == 31


@pytest.mark.parametrize("name", [".", "1"])
def test_a_saved_model_is_told_what_to_give_instead(name, tmp_path):
    (tmp_path / "1").mkdir()
    (tmp_path / "1" / "saved_model.pb").write_bytes(b"")
    with pytest.raises(ValueError, match="Give the preset or the Hugging Face folder"):
        AnalysedModel.of(tmp_path / name)


@pytest.mark.parametrize("kind", ["preset", "huggingface"])
def test_what_it_cannot_read_is_told_before_its_weights_are_read(
    kind, tiny_text_classifier, tmp_path
):
    folder = tmp_path / kind
    if kind == "preset":
        tiny_text_classifier.save_to_preset(folder)
    else:
        tiny_text_classifier.export_to_transformers(folder)
    limit = tiny_text_classifier.backbone.config.max_sequence_length
    for weights in [*folder.glob("*.h5"), *folder.glob("*.safetensors")]:
        weights.write_bytes(b"")
    with pytest.raises(ValueError, match=f"at most {limit} tokens.*sequence_length=100000"):
        AnalysedModel.of(folder, sequence_length=100_000)
