import pytest
from tokenizers import pre_tokenizers

from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS, bytes_to_entry, entry_to_bytes


def test_the_alphabet_is_gpt2s():
    assert set(BYTE_CHARACTERS) == set(pre_tokenizers.ByteLevel.alphabet())
    assert len(BYTE_CHARACTERS) == 256
    for byte, character in {0x20: "Ġ", 0x0A: "Ċ", 0x41: "A", 0xFF: "ÿ", 0xAD: "Ń"}.items():
        assert BYTE_CHARACTERS[byte] == character


def test_the_order_is_gpt2s():
    words = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    characters = "".join(map(chr, range(0x80, 0x800)))
    [(entry, _)] = words.pre_tokenize_str(characters)
    assert bytes_to_entry(characters.encode()) == entry


def test_round_trip():
    data = bytes(range(256))
    assert entry_to_bytes(bytes_to_entry(data)) == data


@pytest.mark.parametrize(
    ("entry", "data"),
    [
        ("Ġthe", b" the"),
        ("", b""),
        ("<|endoftext|>", b"<|endoftext|>"),
        ("ä¸Ń", "中".encode()),
        ("two words", b"two words"),
        ("soft\u00adhyphen", "soft\u00adhyphen".encode()),
        ("Ġ中", "Ġ中".encode()),
    ],
)
def test_bytes_of_an_entry(entry, data):
    assert entry_to_bytes(entry) == data
