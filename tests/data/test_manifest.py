import json

import pytest

from kerazoo.data.manifest import TokenizerDescription, read_manifest, vocabulary_hash


def test_merges_belong_to_the_vocabulary(tiny_bpe_tokenizer):
    from kerazoo import ByteBPETokenizer

    entries = {entry: i for i, entry in enumerate(tiny_bpe_tokenizer.get_vocabulary())}
    merges = tiny_bpe_tokenizer.get_merges()
    assert vocabulary_hash(ByteBPETokenizer(entries, merges)) == vocabulary_hash(tiny_bpe_tokenizer)
    other = ByteBPETokenizer(entries, [merges[1], merges[0], *merges[2:]])
    assert vocabulary_hash(other) != vocabulary_hash(tiny_bpe_tokenizer)


def test_accents_follow_the_case(tiny_vocabulary):
    from kerazoo import WordPieceTokenizer

    plain, explicit = (
        TokenizerDescription.of(WordPieceTokenizer(tiny_vocabulary, strip_accents=value))
        for value in (None, True)
    )
    assert plain == explicit


def test_a_folder_without_a_manifest_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no manifest.json"):
        read_manifest(tmp_path)
    (tmp_path / ".unfinished").mkdir()
    with pytest.raises(FileNotFoundError, match="not finished. Run the same"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"version": 99}, r"another version; this kerazoo reads 1.*Received: version=99"),
        ({"version": 1}, r"damaged: a field is missing or unknown \('settings'\)"),
        ({"version": 1, "settings": {"speed": 3}}, r"damaged: a field .*speed"),
    ],
)
def test_a_damaged_manifest_is_told(tmp_path, content, message):
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        read_manifest(tmp_path)
