from kerazoo.analysis.attention import attention_maps
from kerazoo.analysis.token_labels import token_labels, unusual_entries


def test_words_and_pieces_are_slices_of_the_text(make_attention_map):
    tokens = ["[CLS]", "cafe", "##s", "[UNK]", "[SEP]", "[UNK]", "[SEP]"]
    offsets = [[-1, -1], [0, 4], [4, 5], [6, 7], [-1, -1], [0, 6], [-1, -1]]
    found = make_attention_map(("Cafés 錵", "[MASK]"), tokens, [0, 0, 0, 0, 0, 1, 1], offsets)
    assert token_labels(found) == ["[CLS]", "Café", "s", "錵", "[SEP]", "[MASK]", "[SEP]"]
    assert unusual_entries(found) == [None, None, None, "[UNK]", None, "[UNK]", None]


def test_bytes_and_white_space_of_a_byte_level_tokenizer(make_sharp_gpt):
    backbone, tokenizer = make_sharp_gpt()
    (found,) = attention_maps(backbone, "a é😀\n\tfi ", tokenizer=tokenizer)
    labels = [label.replace("\N{NO-BREAK SPACE}", " ") for label in token_labels(found)]
    assert labels == (
        ["a", "␣", "é 1/2", "é 2/2", "😀 1/4", "😀 2/4", "😀 3/4", "😀 4/4", "⏎", "⇥", "fi", "␣"]
    )
    assert not any(unusual_entries(found))


def test_the_same_characters_of_two_texts_are_two_things(make_attention_map):
    offsets = [[-1, -1], [0, 1], [-1, -1], [0, 1], [-1, -1]]
    found = make_attention_map(
        ("好", "好"), ["[CLS]", "好", "[SEP]", "好", "[SEP]"], [0, 0, 0, 1, 1], offsets
    )
    assert token_labels(found)[1::2] == ["好", "好"]
