import pytest

from kerazoo import WordPieceTokenizer
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.row_records import RowRecords

BLOCK = [["a good film", "very dull"], ["the play was great", "not good"]]
SETTINGS = PrepareSettings(sequence_length=17)


def test_what_is_drawn_depends_on_block_and_seed(tiny_tokenizer):
    block = BLOCK * 9
    records = RowRecords(tiny_tokenizer, SETTINGS)
    first = records.of_block(block, 3)
    assert records.of_block(block, 3) == first
    assert records.of_block(block, 4)[0] != first[0]
    other = RowRecords(tiny_tokenizer, PrepareSettings(sequence_length=17, seed=5))
    assert other.of_block(block, 3)[0] != first[0]


def test_counts_are_those_of_the_rows(tiny_tokenizer):
    records, counts = RowRecords(tiny_tokenizer, SETTINGS).of_block([*BLOCK, ["the \ufffd"]], 0)
    assert (counts.documents, counts.segments, counts.rows) == (3, 5, len(records))
    assert (counts.replaced_lines, counts.fallback_lines) == (1, 0)


def test_full_sentences_have_a_separator_between_documents(tiny_tokenizer):
    settings = PrepareSettings(objective="bert-mlm", sequence_length=17)
    records = RowRecords(tiny_tokenizer, settings)
    (record,), counts = records.of_block([["a good film"], ["dull"]], 0)
    ids = records._format.parse([record])["token_ids"][0]
    tokens = [tiny_tokenizer.id_to_token(int(number)) for number in ids]
    expected = ["[CLS]", "a", "good", "film", "[SEP]", "dull", "[SEP]"]
    assert tokens == expected + ["[PAD]"] * 10
    assert counts.tokens == 7


def test_tokenizers_that_do_not_fit_are_told(tiny_tokenizer, tiny_bpe_tokenizer, tiny_vocabulary):
    with pytest.raises(ValueError, match="needs a WordPiece vocabulary.*ByteBPETokenizer"):
        RowRecords(tiny_bpe_tokenizer, SETTINGS)
    with pytest.raises(ValueError, match="needs a byte-level or GPT-1 BPE vocabulary"):
        RowRecords(tiny_tokenizer, PrepareSettings(objective="gpt"))
    whole = WordPieceTokenizer(tiny_vocabulary, split_on_cjk=False)
    with pytest.raises(ValueError, match="would change this tokenizer's ids"):
        RowRecords(whole, PrepareSettings(segmenter="none"))


def test_packed_texts_are_numbered(tiny_tokenizer):
    settings = PrepareSettings("bert-mlm", sequence_length=13, packing="lines")
    records = RowRecords(tiny_tokenizer, settings)
    found, counts = records.of_block([["a good film", "dull"], ["not bad"]], 0)
    rows = records._format.parse(found)
    tokens = [tiny_tokenizer.id_to_token(int(number)) for number in rows["token_ids"][0]]
    texts = ["[CLS] a good film [SEP]", "[CLS] not bad [SEP]", "[CLS] dull [SEP]", "[PAD]"]
    assert tokens == " ".join(texts).split()
    assert rows["padding_mask"].numpy().tolist() == [[1] * 5 + [2] * 4 + [3] * 3 + [0]]
    assert rows["word_starts"].numpy()[0, [1, 6, 10]].all()
    assert not rows["segment_ids"].numpy().any()
    assert (counts.documents, counts.rows, counts.tokens) == (2, 1, 12)


def test_packed_continuations_are_numbered_behind_the_end_token(tiny_bpe_tokenizer):
    settings = PrepareSettings("gpt", sequence_length=9, packing="documents")
    records = RowRecords(tiny_bpe_tokenizer, settings)
    found, counts = records.of_block([["the", "a"], ["b"], ["good the x"]], 0)
    rows = records._format.parse(found)
    # With its end token "the\na" has 5 tokens, "b" 2 and "good the x" 6.
    expected = [[1] * 6 + [2] * 2 + [0] * 2, [1] * 5 + [0] * 5]
    assert rows["padding_mask"].numpy().tolist() == expected
    assert counts.rows == 2


def test_packing_needs_a_token_that_tells_texts_apart(tiny_bpe_tokenizer, monkeypatch):
    monkeypatch.setattr(tiny_bpe_tokenizer, "end_token_id", None)
    with pytest.raises(ValueError, match="told apart by the end token.*packing='lines'"):
        RowRecords(tiny_bpe_tokenizer, PrepareSettings("gpt", packing="lines"))
