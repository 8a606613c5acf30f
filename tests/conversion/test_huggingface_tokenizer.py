import json
from pathlib import Path

import pytest

from kerazoo.conversion.huggingface_tokenizer import (
    check_vocabulary_fits,
    read_huggingface_tokenizer,
    tokenizer_files,
)

VOCABULARY = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]", "a", "##b", "É", "e", "影", "\u2028"]
SPECIALS = {
    "oov_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "mask_token": "[MASK]",
}
DEFAULTS = {
    "vocabulary": VOCABULARY,
    "lowercase": True,
    "strip_accents": None,
    "split_on_cjk": True,
    **SPECIALS,
}
LINES = "".join(f"{token}\n" for token in VOCABULARY)


def whole(vocabulary=VOCABULARY, added=(), **normalizer):
    """The contents of a `tokenizer.json`."""
    settings = {"lowercase": True, "strip_accents": None, "handle_chinese_chars": True}
    return {
        "added_tokens": [{"id": i, "content": token, "special": True} for i, token in added],
        "normalizer": {"type": "BertNormalizer", "clean_text": True, **settings, **normalizer},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {token: i for i, token in enumerate(vocabulary)},
        },
    }


@pytest.fixture
def write(tmp_path):
    def write(**files):
        names = {"vocab": "vocab.txt"}
        for name, content in files.items():
            path = tmp_path / names.get(name, f"{name}.json")
            text = content if isinstance(content, str) else json.dumps(content)
            path.write_text(text, encoding="utf-8", newline="")
        return tmp_path

    return write


def test_a_vocabulary_alone_is_uncased_bert(write):
    assert read_huggingface_tokenizer(write(vocab=LINES)) == DEFAULTS


@pytest.mark.parametrize(
    ("key", "value", "argument"),
    [
        ("do_lower_case", False, "lowercase"),
        ("strip_accents", False, "strip_accents"),
        ("strip_accents", True, "strip_accents"),
        ("tokenize_chinese_chars", False, "split_on_cjk"),
        ("unk_token", "a", "oov_token"),
        ("cls_token", "<s>", "cls_token"),
        ("sep_token", {"content": "</s>", "lstrip": False}, "sep_token"),
        ("pad_token", "<pad>", "pad_token"),
        ("mask_token", "<mask>", "mask_token"),
    ],
)
def test_every_setting_of_the_tokenizer_config(write, key, value, argument):
    wanted = value["content"] if isinstance(value, dict) else value
    settings = read_huggingface_tokenizer(write(vocab=LINES, tokenizer_config={key: value}))
    assert settings == DEFAULTS | {argument: wanted}


@pytest.mark.parametrize(
    ("key", "value", "argument"),
    [
        ("lowercase", False, "lowercase"),
        ("strip_accents", False, "strip_accents"),
        ("handle_chinese_chars", False, "split_on_cjk"),
    ],
)
def test_every_setting_of_tokenizer_json(write, key, value, argument):
    settings = read_huggingface_tokenizer(write(tokenizer=whole(**{key: value})))
    assert settings == DEFAULTS | {argument: value, "max_characters_per_word": 100}


def test_the_longest_word_comes_from_tokenizer_json(write):
    content = whole()
    content["model"]["max_input_chars_per_word"] = 60
    assert read_huggingface_tokenizer(write(tokenizer=content))["max_characters_per_word"] == 60


@pytest.mark.parametrize(
    ("tokenizer_class", "lowercase"),
    [("BertTokenizer", False), ("PreTrainedTokenizerFast", True), ("TokenizersBackend", True)],
)
def test_the_tokenizer_config_wins_as_in_transformers(write, tokenizer_class, lowercase):
    config = {"do_lower_case": False, "tokenizer_class": tokenizer_class}
    folder = write(tokenizer=whole(lowercase=True), tokenizer_config=config)
    assert read_huggingface_tokenizer(folder)["lowercase"] is lowercase


def test_special_tokens_of_their_own_file(write):
    folder = write(vocab=LINES, special_tokens_map={"cls_token": {"content": "<s>"}})
    assert read_huggingface_tokenizer(folder) == DEFAULTS | {"cls_token": "<s>"}


@pytest.mark.parametrize("form", ["tokenizer.json", "tokenizer_config", "added_tokens"])
def test_added_tokens_come_after_the_vocabulary(write, form):
    if form == "tokenizer.json":
        folder = write(tokenizer=whole(added=[(4, "[MASK]"), (12, "<b>"), (11, "<a>")]))
    elif form == "tokenizer_config":
        added = {"12": {"content": "<b>"}, "11": {"content": "<a>"}, "4": {"content": "[MASK]"}}
        folder = write(vocab=LINES, tokenizer_config={"added_tokens_decoder": added})
    else:
        folder = write(vocab=LINES, added_tokens={"<b>": 12, "<a>": 11})
    assert read_huggingface_tokenizer(folder)["vocabulary"] == [*VOCABULARY, "<a>", "<b>"]


def test_a_gap_in_the_ids(write):
    with pytest.raises(ValueError, match="vocab.txt: the ids of the vocabulary have a gap"):
        read_huggingface_tokenizer(write(vocab=LINES, added_tokens={"<a>": 12}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"type": "BPE"}}, "WordPiece vocabularies.*Received: type='BPE'"),
        ({"normalizer": {"type": "NFC"}}, "BERT's normalizer .*Received: normalizer='NFC'"),
        ({"normalizer": None}, "Received: normalizer=None"),
        ({"normalizer": {"type": "BertNormalizer", "clean_text": False}}, "clean_text=False"),
        ({"pre_tokenizer": {"type": "Whitespace"}}, "pre_tokenizer='Whitespace'"),
    ],
)
def test_another_kind_of_tokenizer(write, change, message):
    with pytest.raises(ValueError, match=message):
        read_huggingface_tokenizer(write(tokenizer=whole() | change))


def test_a_tokenizer_that_stands_before_the_vocabulary(write):
    folder = write(vocab=LINES, tokenizer_config={"tokenizer_class": "BertJapaneseTokenizer"})
    with pytest.raises(ValueError, match="it reads BertTokenizer. Received: .*BertJapaneseToken"):
        read_huggingface_tokenizer(folder)


def test_no_tokenizer(tmp_path):
    with pytest.raises(FileNotFoundError, match="no tokenizer. Expected vocab.txt or tokenizer.js"):
        read_huggingface_tokenizer(tmp_path)


def test_a_vocabulary_must_fit_the_embedding_matrix(tmp_path):
    check_vocabulary_fits(VOCABULARY, 11, tmp_path)
    check_vocabulary_fits(VOCABULARY, 30, tmp_path)
    with pytest.raises(ValueError, match="Received: 11 tokens, vocab_size=10"):
        check_vocabulary_fits(VOCABULARY, 10, tmp_path)


CASES = [
    {},
    {"lowercase": False},
    {"strip_accents": False, "split_on_cjk": False},
    {"lowercase": False, "strip_accents": True, "max_characters_per_word": 3},
]


@pytest.mark.parametrize("changes", CASES, ids=str)
@pytest.mark.parametrize("kept", ["all", "vocab", "tokenizer"])
def test_writing_and_reading_gives_the_same(tmp_path, changes, kept):
    settings = DEFAULTS | {"max_characters_per_word": 100} | changes
    for name, content in tokenizer_files(settings, max_length=11).items():
        (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    if kept == "vocab":
        (tmp_path / "tokenizer.json").unlink()
        settings.pop("max_characters_per_word")  # only tokenizer.json can say it
    elif kept == "tokenizer":
        (tmp_path / "vocab.txt").unlink()
    assert read_huggingface_tokenizer(tmp_path) == settings
    config = json.loads((tmp_path / "tokenizer_config.json").read_text())
    assert (config["model_max_length"], config["unk_token"]) == (11, "[UNK]")


TEXTS = ["É a\u2028b", "ab e\u0301影影", "[CLS] ab[MASK]", "É ÉÉ aaab", ""]


@pytest.mark.parametrize("changes", CASES, ids=str)
def test_the_tokenizers_library_gives_the_same_ids(tmp_path, changes):
    from tokenizers import Tokenizer

    from kerazoo.tokenizers.wordpiece import WordPieceTokenizer

    settings = DEFAULTS | changes
    (tmp_path / "tokenizer.json").write_text(
        tokenizer_files(settings, max_length=11)["tokenizer.json"], encoding="utf-8"
    )
    reference = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    mine = WordPieceTokenizer(**settings, special_tokens_in_strings=True)
    ids = mine.tokenize(TEXTS).to_list()
    assert [reference.encode(t, add_special_tokens=False).ids for t in TEXTS] == ids
    pair = reference.encode(TEXTS[0], TEXTS[1])
    assert pair.ids == [1, *ids[0], 2, *ids[1], 2]
    assert pair.type_ids == [0] * (len(ids[0]) + 2) + [1] * (len(ids[1]) + 1)


@pytest.mark.transformers
@pytest.mark.parametrize("changes", CASES[:3], ids=str)
@pytest.mark.parametrize("kept", ["all", "vocab", "tokenizer"])
def test_transformers_gives_the_same_ids(tmp_path: Path, config, changes, kept):
    import transformers

    from kerazoo.tokenizers.wordpiece import WordPieceTokenizer

    (tmp_path / "config.json").write_text(json.dumps(config))
    for name, content in tokenizer_files(DEFAULTS | changes, max_length=11).items():
        (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    if kept != "all":
        (tmp_path / {"vocab": "tokenizer.json", "tokenizer": "vocab.txt"}[kept]).unlink()
    reference = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert reference.model_max_length == 11
    assert reference.pad_token_id == 3
    mine = WordPieceTokenizer(**DEFAULTS | changes, special_tokens_in_strings=True)
    ids = [reference(text, add_special_tokens=False)["input_ids"] for text in TEXTS]
    assert ids == mine.tokenize(TEXTS).to_list()
    if kept == "vocab":  # transformers reads the line of a white-space token as an empty one
        return
    reference.save_pretrained(tmp_path / "again")
    again = read_huggingface_tokenizer(tmp_path / "again")
    assert again == DEFAULTS | {"max_characters_per_word": 100} | changes
