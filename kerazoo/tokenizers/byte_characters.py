"""GPT-2's alphabet: a printable character for each of the 256 bytes."""

from collections.abc import Iterable

# Bytes that are printable characters of Latin-1 stand for themselves; the others (space, control
# and a few more) get the characters from U+0100 on, in order.
_PRINTABLE = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
_OTHERS = [byte for byte in range(256) if byte not in _PRINTABLE]

BYTE_CHARACTERS: tuple[str, ...] = tuple(
    chr(byte) if byte in _PRINTABLE else chr(0x100 + _OTHERS.index(byte)) for byte in range(256)
)

# Latin-1 characters outside the alphabet go where Latin-1 cannot follow.
_TO_LATIN_1 = {byte: 0xFFFD for byte in _OTHERS} | {
    ord(character): byte for byte, character in enumerate(BYTE_CHARACTERS)
}


def entry_to_bytes(entry: str) -> bytes:
    """Return the bytes that a vocabulary entry stands for.

    Args:
        entry: a vocabulary entry, such as "Ġthe".

    Returns:
        The bytes, such as b" the"; the entry's own UTF-8 if it is not written in the alphabet (an
        added token with a space, for example).
    """
    try:
        return entry.translate(_TO_LATIN_1).encode("latin-1")
    except UnicodeEncodeError:
        return entry.encode("utf-8")


def bytes_to_entry(data: Iterable[int]) -> str:
    """Return the vocabulary entry of some bytes, such as "Ġthe" of b" the"."""
    return "".join(BYTE_CHARACTERS[byte] for byte in data)
