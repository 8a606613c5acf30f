import shutil

import pytest

from kerazoo import WordPieceTokenizer
from kerazoo.data.shard_rows import ShardRows
from kerazoo.data.text_rows import TextRows
from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.pretrain_data import PretrainData
from kerazoo.training.progress import Progress

CONFIG = PretrainConfig(validation_rows=1000)


def test_a_folder_with_a_manifest_is_shards(make_shards, tiny_tokenizer):
    data = PretrainData.open(str(make_shards("bert")))
    tokenizer = data.tokenizer(None, None, True)
    assert tokenizer.get_vocabulary() == tiny_tokenizer.get_vocabulary()
    settings = data.row_settings(False, CONFIG)
    assert (settings.objective, settings.sequence_length) == ("bert", 19)
    rows = data.rows(tokenizer, settings, 0.2, CONFIG)
    assert isinstance(rows, ShardRows)
    assert rows.held_out_rows == round(0.2 * data.manifest.rows)


def test_anything_else_is_text(corpus_file, tiny_tokenizer):
    data = PretrainData.open([corpus_file])
    config = PretrainConfig(sequence_length=17, segmenter="none")
    settings = data.row_settings(False, config)
    assert (settings.objective, settings.sequence_length) == ("bert-mlm", 17)
    assert settings.segmenter == "none"
    assert data.row_settings(True, CONFIG).objective == "gpt"
    assert data.row_settings(True, CONFIG).sequence_length == 128
    rows = data.rows(tiny_tokenizer, settings, 0.0, config, Progress(quiet=True))
    assert isinstance(rows, TextRows)
    assert rows.held_out_rows == 0


def test_rows_of_raw_text_are_made_here(make_shards, corpus_file):
    with pytest.raises(ValueError, match="`kerazoo prepare`, .*data_service=.'h:1'. with data="):
        PretrainData.open([corpus_file]).service(["h:1"])
    assert PretrainData.open([corpus_file]).service([]) is None
    with pytest.raises(ConnectionError, match="No data service answers"):
        PretrainData.open(str(make_shards("bert"))).service(["localhost:1"])


@pytest.mark.parametrize(
    "setting", [{"objective": "bert-mlm"}, {"sequence_length": 20}, {"segmenter": "jieba"}]
)
def test_shards_decide_what_their_rows_are(make_shards, setting):
    data = PretrainData.open(str(make_shards("bert")))
    data.check_settings(PretrainConfig(objective="bert", sequence_length=19))
    (name,) = setting
    with pytest.raises(ValueError, match=f"The shards hold rows of {name}=.*Received: {name}="):
        data.check_settings(PretrainConfig(**setting))


def test_rows_are_no_longer_than_the_model_reads(make_shards, corpus_file):
    data = PretrainData.open([corpus_file])
    assert data.row_settings(False, CONFIG, longest=77).sequence_length == 77
    assert data.row_settings(False, CONFIG, longest=512).sequence_length == 128
    config = PretrainConfig(sequence_length=200)
    assert data.row_settings(False, config, longest=200).sequence_length == 200
    with pytest.raises(ValueError, match=r"at most 77 .*--sequence-length.*sequence_length=200"):
        data.row_settings(False, config, longest=77)
    shards = PretrainData.open(str(make_shards("bert")))
    assert shards.row_settings(False, CONFIG, longest=19).sequence_length == 19
    with pytest.raises(ValueError, match=r"rows of 19 tokens.*at most 18 .*--sequence-length of"):
        shards.row_settings(False, CONFIG, longest=18)


def test_shards_of_another_vocabulary_are_refused(make_shards, tiny_vocabulary, tmp_path):
    file = tmp_path / "vocab.txt"
    file.write_text("\n".join([*tiny_vocabulary, "more"]) + "\n")
    data = PretrainData.open(str(make_shards("bert")))
    with pytest.raises(ValueError, match="another vocabulary.*32 entries.*31"):
        data.tokenizer(None, str(file), True)


def test_text_needs_a_vocabulary(corpus_file):
    with pytest.raises(ValueError, match="`kerazoo vocab` trains one"):
        PretrainData.open(corpus_file).tokenizer(None, None, True)


def test_rows_of_static_copies_cannot_be_held_out(make_shards, tiny_tokenizer):
    data = PretrainData.open(str(make_shards("bert", static_masks=2)))
    settings = data.row_settings(False, CONFIG)
    with pytest.raises(ValueError, match="several times in shards with static masks"):
        data.rows(tiny_tokenizer, settings, 0.2, CONFIG)
    assert data.rows(tiny_tokenizer, settings, 0.0, CONFIG).training_rows == data.manifest.rows


def test_validation_rows_are_of_the_same_kind(make_shards, tiny_tokenizer):
    settings = PretrainData.open(str(make_shards("bert"))).row_settings(False, CONFIG)
    other = PretrainData.open(str(make_shards("bert-mlm")))
    with pytest.raises(ValueError, match="of the objective .* 'bert'. Received: objective='bert-m"):
        other.rows(tiny_tokenizer, settings, 1.0, CONFIG)


def test_an_unfinished_folder_is_told(make_shards, tmp_path):
    folder = shutil.copytree(make_shards("bert"), tmp_path / "shards")
    (folder / "manifest.json").unlink()
    (folder / ".unfinished").mkdir()
    with pytest.raises(FileNotFoundError, match="not finished"):
        PretrainData.open(str(folder))


def test_validation_text_beside_shards(make_shards, corpus_file, tiny_tokenizer):
    settings = PretrainData.open(str(make_shards("bert"))).row_settings(False, CONFIG)
    rows = PretrainData.open(corpus_file).rows(tiny_tokenizer, settings, 1.0, CONFIG)
    assert rows.training_rows == 0
    assert rows.row_format.objective == "bert"
    assert len(list(rows.held_out())) == rows.held_out_rows > 10


def test_wordpiece_of_another_case_is_refused(make_shards, tiny_vocabulary, tmp_path):
    file = tmp_path / "vocab.txt"
    file.write_text("\n".join(tiny_vocabulary) + "\n")
    assert WordPieceTokenizer(vocabulary=file).lowercase is not None
    data = PretrainData.open(str(make_shards("bert")))
    with pytest.raises(ValueError, match="lowercase=False"):
        data.tokenizer(None, str(file), False)


def test_texts_that_are_not_there_are_missed_first(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file or folder .*nothing"):
        PretrainData.open(str(tmp_path / "nothing"))
