import json

import pytest
from bpe_reference import (
    END_OF_TEXT,
    byte_reference,
    byte_vocabulary,
    gpt_reference,
    gpt_vocabulary,
    write_files,
)
from nasty_strings import NASTY_STRINGS

from kerazoo.conversion.huggingface_bpe_tokenizer import bpe_tokenizer_files, read_bpe_tokenizer
from kerazoo.tokenizers.byte_bpe import ByteBPETokenizer
from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS
from kerazoo.tokenizers.gpt_bpe import GPTBPETokenizer

CLASSES = {"byte_bpe": ByteBPETokenizer, "gpt_bpe": GPTBPETokenizer}
VOCABULARIES = {"byte_bpe": byte_vocabulary, "gpt_bpe": gpt_vocabulary}
REFERENCES = {"byte_bpe": byte_reference, "gpt_bpe": gpt_reference}
BYTES = {character: number for number, character in enumerate(BYTE_CHARACTERS)}
MERGES = [("Ġ", "t"), ("Ġt", "h")]
VOCABULARY = BYTES | {"Ġt": 256, "Ġth": 257, END_OF_TEXT: 258}
BYTE_SETTINGS = {
    "vocabulary": VOCABULARY,
    "merges": MERGES,
    "end_token": END_OF_TEXT,
    "start_token": END_OF_TEXT,
    "pad_token": None,
    "task_tokens": False,
}
GPT_VOCABULARY = {"<unk>": 0, "a": 1, "b</w>": 2, "ab</w>": 3}
GPT_SETTINGS = {
    "vocabulary": GPT_VOCABULARY,
    "merges": [("a", "b</w>")],
    "unk_token": "<unk>",
    "end_token": None,
    "start_token": None,
    "pad_token": None,
    "lowercase": True,
    "strip_accents": None,
    "task_tokens": False,
}


@pytest.fixture
def folder(tmp_path):
    def write(vocabulary=None, merges=(), **files):
        if vocabulary is not None:
            write_files(tmp_path, vocabulary, merges)
        for name, content in files.items():
            (tmp_path / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
        return tmp_path

    return write


def whole_byte(**changes):
    """The contents of GPT-2's `tokenizer.json`."""
    content = json.loads(byte_reference(VOCABULARY, MERGES, [END_OF_TEXT]).to_str())
    return content | changes


def whole_gpt(**changes):
    """The contents of GPT-1's `tokenizer.json`."""
    reference = gpt_reference(GPT_VOCABULARY, GPT_SETTINGS["merges"], ["<unk>"])
    return json.loads(reference.to_str()) | changes


@pytest.mark.parametrize("name", ["GPT2Tokenizer", "GPT2TokenizerFast", None])
def test_gpt2_by_its_vocabulary_and_merges(folder, name):
    config = {"tokenizer_class": name} if name else {}
    path = folder(VOCABULARY, MERGES, tokenizer_config=config)
    assert read_bpe_tokenizer(path) == ("byte_bpe", BYTE_SETTINGS)


@pytest.mark.parametrize("name", ["OpenAIGPTTokenizer", "OpenAIGPTTokenizerFast", None])
def test_gpt1_by_its_vocabulary_and_merges(folder, name):
    config = {"tokenizer_class": name} if name else {}
    path = folder(GPT_VOCABULARY, GPT_SETTINGS["merges"], tokenizer_config=config)
    assert read_bpe_tokenizer(path) == ("gpt_bpe", GPT_SETTINGS)


@pytest.mark.parametrize("name", ["PreTrainedTokenizerFast", "TokenizersBackend", None])
def test_by_tokenizer_json_alone(folder, name):
    config = {"tokenizer_class": name} if name else {}
    path = folder(tokenizer=whole_byte(), tokenizer_config=config)
    assert read_bpe_tokenizer(path) == ("byte_bpe", BYTE_SETTINGS)
    path = folder(tokenizer=whole_gpt(), tokenizer_config=config)
    assert read_bpe_tokenizer(path) == ("gpt_bpe", GPT_SETTINGS)


def test_merges_written_as_strings(folder):
    content = whole_byte()
    content["model"]["merges"] = ["Ġ t", "Ġt h"]
    assert read_bpe_tokenizer(folder(tokenizer=content))[1]["merges"] == MERGES


def test_special_tokens(folder):
    vocabulary = VOCABULARY | {"<pad>": 259, "<end>": 260}
    config = {"pad_token": {"content": "<pad>", "lstrip": False}, "eos_token": "<end>"}
    path = folder(
        vocabulary, MERGES, special_tokens_map={"eos_token": "x"}, tokenizer_config=config
    )
    _, settings = read_bpe_tokenizer(path)
    assert settings == BYTE_SETTINGS | {
        "vocabulary": vocabulary,
        "pad_token": "<pad>",
        "end_token": "<end>",
    }


def test_a_vocabulary_without_special_tokens(folder):
    _, settings = read_bpe_tokenizer(folder(BYTES, []))
    assert settings["end_token"] is settings["start_token"] is settings["pad_token"] is None


def test_added_tokens_come_after_the_vocabulary(folder):
    config = {"added_tokens_decoder": {"259": {"content": "<pad>"}}, "pad_token": "<pad>"}
    path = folder(VOCABULARY, MERGES, tokenizer_config=config, added_tokens={"<x>": 260})
    _, settings = read_bpe_tokenizer(path)
    assert settings["vocabulary"] == VOCABULARY | {"<pad>": 259, "<x>": 260}
    with pytest.raises(ValueError, match="a gap"):
        read_bpe_tokenizer(folder(added_tokens={"<x>": 262}))


def test_normalisation_of_gpt1(folder):
    normalizer = whole_gpt()["normalizer"] | {"lowercase": False, "strip_accents": True}
    _, settings = read_bpe_tokenizer(folder(tokenizer=whole_gpt(normalizer=normalizer)))
    assert (settings["lowercase"], settings["strip_accents"]) == (False, True)
    # The class of transformers always lower-cases.
    config = {"tokenizer_class": "OpenAIGPTTokenizer"}
    assert read_bpe_tokenizer(folder(tokenizer_config=config))[1]["lowercase"] is True


def test_no_tokenizer(folder):
    with pytest.raises(FileNotFoundError, match=r"vocab\.json and merges\.txt, or tokenizer\.json"):
        read_bpe_tokenizer(folder())
    path = folder(VOCABULARY, MERGES)
    (path / "merges.txt").unlink()
    with pytest.raises(FileNotFoundError, match="merges"):
        read_bpe_tokenizer(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("type", "WordPiece"),
        ("dropout", 0.1),
        ("fuse_unk", True),
        ("byte_fallback", True),
        ("ignore_merges", True),
        ("continuing_subword_prefix", "##"),
    ],
)
def test_models_that_kerazoo_does_not_have(folder, key, value):
    content = whole_byte()
    content["model"][key] = value
    with pytest.raises(ValueError, match=f"Received:.*{key}={value!r}"):
        read_bpe_tokenizer(folder(tokenizer=content))


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pre_tokenizer": BYTE_LEVEL | {"add_prefix_space": True}}, "add_prefix_space=True"),
        ({"pre_tokenizer": BYTE_LEVEL | {"use_regex": False}}, "pre_tokenizer='ByteLevel'"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer='Whitespace'"),
        ({"pre_tokenizer": None}, "pre_tokenizer=None"),
        ({"normalizer": {"type": "NFC"}}, "normalizer='NFC'"),
    ],
)
def test_steps_that_kerazoo_does_not_have(folder, changes, message):
    with pytest.raises(ValueError, match=message):
        read_bpe_tokenizer(folder(tokenizer=whole_byte(**changes)))


def test_settings_that_kerazoo_does_not_have(folder):
    config = {"tokenizer_class": "GPT2Tokenizer", "add_prefix_space": True}
    with pytest.raises(ValueError, match="add_prefix_space=True"):
        read_bpe_tokenizer(folder(VOCABULARY, MERGES, tokenizer_config=config))
    config = {"tokenizer_class": "RobertaTokenizer"}
    with pytest.raises(ValueError, match="tokenizer_class='RobertaTokenizer'"):
        read_bpe_tokenizer(folder(tokenizer_config=config))
    normalizer = whole_gpt()["normalizer"] | {"handle_chinese_chars": False}
    with pytest.raises(ValueError, match="normalizer='BertNormalizer'"):
        read_bpe_tokenizer(folder(tokenizer=whole_gpt(normalizer=normalizer), tokenizer_config={}))


def settings_of(kind, **changes):
    vocabulary, merges = VOCABULARIES[kind]()
    base = BYTE_SETTINGS if kind == "byte_bpe" else GPT_SETTINGS
    return {**base, "vocabulary": vocabulary, "merges": merges, **changes}


def write(folder, kind, settings):
    for name, text in bpe_tokenizer_files(kind, settings, max_length=37).items():
        (folder / name).write_bytes(text.encode("utf-8"))
    return folder


OPTIONS = [
    ("byte_bpe", {}),
    ("byte_bpe", {"task_tokens": True, "pad_token": "Ġ"}),
    ("byte_bpe", {"end_token": None, "start_token": None}),
    ("gpt_bpe", {}),
    ("gpt_bpe", {"task_tokens": True, "end_token": "a", "start_token": "b", "pad_token": "c"}),
    ("gpt_bpe", {"lowercase": False, "strip_accents": True}),
]


@pytest.mark.parametrize(("kind", "changes"), OPTIONS)
@pytest.mark.parametrize("kept", [None, "tokenizer.json"])
def test_written_files_give_the_same_arguments(tmp_path, kind, changes, kept):
    settings = settings_of(kind, **changes)
    write(tmp_path, kind, settings)
    if kept:
        for name in ("vocab.json", "merges.txt"):
            (tmp_path / name).unlink()
    assert read_bpe_tokenizer(tmp_path) == (kind, settings)
    CLASSES[kind](**settings)


@pytest.mark.parametrize(("kind", "changes"), OPTIONS)
def test_the_tokenizers_library_reads_the_files(tmp_path, kind, changes):
    from tokenizers import Tokenizer

    settings = settings_of(kind, **changes)
    theirs = Tokenizer.from_file(str(write(tmp_path, kind, settings) / "tokenizer.json"))
    ours = CLASSES[kind](**settings, special_tokens_in_strings=True)
    encodings = theirs.encode_batch(NASTY_STRINGS, add_special_tokens=False)
    ids = ours(NASTY_STRINGS)
    assert ids.to_list() == [encoding.ids for encoding in encodings]
    decoded = theirs.decode_batch(ids.to_list(), skip_special_tokens=False)
    assert [text.decode() for text in ours.detokenize(ids).numpy()] == decoded


@pytest.mark.transformers
@pytest.mark.parametrize(
    ("kind", "changes", "kept"),
    [
        (kind, changes, kept)
        for kind, changes in OPTIONS
        for kept in (None, "tokenizer.json", "vocab.json")
        # Another case than GPT-1's own is written for a class that reads tokenizer.json only.
        if not (kept == "vocab.json" and "lowercase" in changes)
    ],
)
def test_transformers_reads_the_files(tmp_path, kind, changes, kept):
    from transformers import AutoTokenizer

    settings = settings_of(kind, **changes)
    write(tmp_path, kind, settings)
    if kept:
        other = {"tokenizer.json": ("vocab.json", "merges.txt"), "vocab.json": ("tokenizer.json",)}
        for name in other[kept]:
            (tmp_path / name).unlink()
    theirs = AutoTokenizer.from_pretrained(tmp_path)
    ours = CLASSES[kind](**settings, special_tokens_in_strings=True)
    assert (
        theirs(NASTY_STRINGS, add_special_tokens=False)["input_ids"]
        == ours(NASTY_STRINGS).to_list()
    )
    assert theirs.model_max_length == 37
    assert len(theirs) == len(settings["vocabulary"])
    for name in ("eos_token", "pad_token"):
        argument = {"eos_token": "end_token"}.get(name, name)
        assert getattr(theirs, name) == settings[argument]


@pytest.mark.transformers
@pytest.mark.parametrize("kind", CLASSES)
def test_reading_what_transformers_saves(tmp_path, kind):
    from transformers import AutoTokenizer

    settings = settings_of(kind)
    theirs = AutoTokenizer.from_pretrained(write(tmp_path, kind, settings))
    theirs.add_special_tokens({"pad_token": "<pad>"})
    theirs.save_pretrained(tmp_path / "saved")
    found_kind, found = read_bpe_tokenizer(tmp_path / "saved")
    assert found_kind == kind
    count = len(settings["vocabulary"])
    expected = settings | {"pad_token": "<pad>"}
    assert found == expected | {"vocabulary": settings["vocabulary"] | {"<pad>": count}}
    ours = CLASSES[kind](**found, special_tokens_in_strings=True)
    texts = [*NASTY_STRINGS, "a<pad>b"]
    assert theirs(texts, add_special_tokens=False)["input_ids"] == ours(texts).to_list()
    assert REFERENCES[kind](found["vocabulary"], found["merges"]).get_vocab_size() == count + 1
