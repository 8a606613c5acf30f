import pytest
import tensorflow as tf

from kerazoo.tokenizers.detokenization import join_word_pieces


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["play", "##ed", "on"], "played on"),
        (["un", "##aff", "##able"], "unaffable"),
        (["我", "爱", "中", "文"], "我爱中文"),
        (["我", "爱", "code", "的"], "我爱 code 的"),
        (["##ed", "a"], "##ed a"),
        (["a", "#", "#", "b"], "a # # b"),
        (["[CLS]", "a", "[SEP]"], "[CLS] a [SEP]"),
        (["\U00020000", "\U0002f800"], "\U00020000\U0002f800"),
        (["a", ",", "b"], "a , b"),
        ([], ""),
    ],
)
def test_join(tokens, text):
    rows = tf.ragged.constant([tokens, ["x"]], dtype=tf.string, ragged_rank=1)
    joined = [row.decode("utf-8") for row in join_word_pieces(rows).numpy()]
    assert joined == [text, "x"]
