import numpy as np
import pytest

from kerazoo.data import token_block
from kerazoo.data.token_block import tokenize_documents, tokenize_segments

BLOCK = [["a good film", "\u200b", "played"], ["\u200b"], ["电影好"]]


class WordsOfTwo:
    def words(self, texts):
        return [[text[i : i + 2] for i in range(0, len(text), 2)] for text in texts]


def test_segments_and_documents_without_tokens_are_left_out(tiny_tokenizer):
    block = tokenize_segments(BLOCK, tiny_tokenizer, None, None)
    tokens = [tiny_tokenizer.id_to_token(number) for number in block.ids]
    assert tokens == ["a", "good", "film", "play", "##ed", "电", "影", "好"]
    np.testing.assert_array_equal(block.segment_starts, [0, 3, 5, 8])
    np.testing.assert_array_equal(block.document_starts, [0, 2, 3])
    np.testing.assert_array_equal(block.word_starts, [1, 1, 1, 1, 0, 1, 1, 1])
    assert (block.documents, block.segments, block.fallback_lines) == (2, 3, 0)


@pytest.mark.parametrize(
    ("name", "segmenter", "text", "starts"),
    [
        ("jieba", WordsOfTwo(), "电影好", [1, 0, 1]),
        ("none", None, "电影 好", [1, 0, 1]),
        ("none", None, "电影好", [1, 0, 0]),
        (None, None, "电影 好", [1, 1, 1]),
    ],
)
def test_words_are_those_of_the_segmenter(tiny_tokenizer, name, segmenter, text, starts):
    block = tokenize_segments([[text]], tiny_tokenizer, name, segmenter)
    np.testing.assert_array_equal(block.word_starts, starts)
    np.testing.assert_array_equal(block.ids, tiny_tokenizer.tokenize("电影好"))


def test_lines_that_cannot_be_segmented_are_counted(tiny_tokenizer):
    class Forgetful:
        def words(self, texts):
            return [[text[:2]] for text in texts]

    block = tokenize_segments([["电影好", "电影"]], tiny_tokenizer, "ltp", Forgetful())
    assert block.fallback_lines == 1
    np.testing.assert_array_equal(block.word_starts, [1, 1, 1, 1, 0])


def test_documents_end_with_the_end_token(tiny_bpe_tokenizer):
    documents = [["good", "food"], ["the"]]
    block = tokenize_documents(documents, tiny_bpe_tokenizer)
    end = tiny_bpe_tokenizer.end_token_id
    expected = [*tiny_bpe_tokenizer.tokenize("good\nfood").numpy(), end]
    expected += [*tiny_bpe_tokenizer.tokenize("the").numpy(), end]
    np.testing.assert_array_equal(block.ids, expected)
    assert (block.documents, block.word_starts) == (2, None)


def test_long_blocks_are_tokenised_in_portions(tiny_tokenizer, monkeypatch):
    block = [["a film", "very good play"], ["dull"] * 5]
    whole = tokenize_segments(block, tiny_tokenizer, None, None)
    monkeypatch.setattr(token_block, "_TEXTS_AT_ONCE", 2)
    portions = tokenize_segments(block, tiny_tokenizer, None, None)
    for field in ("ids", "word_starts", "segment_starts", "document_starts"):
        np.testing.assert_array_equal(getattr(portions, field), getattr(whole, field))
