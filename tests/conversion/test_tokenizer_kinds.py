import pytest
from tiny_gpt import tiny_byte_tokenizer

from kerazoo import GPTBPETokenizer, WordPieceTokenizer
from kerazoo.conversion.model_types import BERT, GPT2, OPENAI_GPT
from kerazoo.conversion.tokenizer_kinds import (
    kind_and_settings,
    new_tokenizer,
    read_tokenizer,
    special_token_ids,
    title_of_class,
    title_of_kind,
    tokenizer_files,
)

TEXTS = ["the food", " a $ fool, Tea", ""]
VOCABULARY = {"<unk>": 0, "p": 1, "l": 2, "a": 3, "y": 4, "y</w>": 5, "pl": 6, "ay</w>": 7}


@pytest.fixture(params=["wordpiece", "byte_bpe", "byte_bpe with task tokens", "gpt_bpe"])
def tokenizer(request, tiny_tokenizer):
    if request.param == "wordpiece":
        return tiny_tokenizer
    if request.param == "gpt_bpe":
        return GPTBPETokenizer(VOCABULARY, ["p l", "a y</w>"], strip_accents=False)
    return tiny_byte_tokenizer(task_tokens=request.param.endswith("task tokens"))


def test_settings_make_an_equal_tokenizer(tokenizer):
    kind, settings = kind_and_settings(tokenizer)
    copy = new_tokenizer(kind, settings)
    assert type(copy) is type(tokenizer)
    assert copy.get_vocabulary() == tokenizer.get_vocabulary()
    assert copy.tokenize(TEXTS).to_list() == tokenizer.tokenize(TEXTS).to_list()
    assert kind_and_settings(copy) == (kind, settings)


def test_written_and_read_again(tokenizer, tmp_path):
    kind, settings = kind_and_settings(tokenizer)
    for name, content in tokenizer_files(kind, settings, 11).items():
        (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    model_type = {"wordpiece": BERT, "byte_bpe": GPT2, "gpt_bpe": OPENAI_GPT}[kind]
    found, again = read_tokenizer(tmp_path, model_type)
    assert found == kind
    assert again["vocabulary"] == settings["vocabulary"]
    copy = new_tokenizer(found, again)
    assert copy.vocabulary_size() == tokenizer.vocabulary_size()
    assert copy.tokenize(TEXTS).to_list() == tokenizer.tokenize(TEXTS).to_list()


def test_special_token_ids(tiny_tokenizer):
    assert special_token_ids(tiny_tokenizer) == {"pad_token_id": 3}
    assert special_token_ids({"vocabulary": ["a", "[PAD]"], "pad_token": "[PAD]"}) == {
        "pad_token_id": 1
    }
    assert special_token_ids(tiny_byte_tokenizer()) == {
        "bos_token_id": 0,
        "eos_token_id": 0,
        "pad_token_id": 0,
    }
    unmarked = GPTBPETokenizer(VOCABULARY, ["p l"], pad_token="a")
    assert special_token_ids(unmarked) == {
        "bos_token_id": None,
        "eos_token_id": None,
        "pad_token_id": 3,
    }


def test_another_tokenizer_is_refused():
    with pytest.raises(ValueError, match="its own tokenizers only. Received: tokenizer=object"):
        kind_and_settings(object())


def test_options_that_huggingface_lacks_are_said(tiny_vocabulary):
    with pytest.warns(UserWarning, match="no option 'map_quotes'"):
        kind_and_settings(WordPieceTokenizer(tiny_vocabulary, map_quotes=True))


def test_titles():
    assert title_of_kind("gpt_bpe") == title_of_class("GPTBPETokenizer") == "BPE of GPT-1"
    assert title_of_class("WordPieceTokenizer") == "WordPiece"
    assert title_of_class("SentencePieceTokenizer") == "SentencePieceTokenizer"


def test_a_folder_without_tokenizer(tmp_path):
    for model_type in (BERT, GPT2):
        with pytest.raises(FileNotFoundError, match="holds no tokenizer"):
            read_tokenizer(tmp_path, model_type)
