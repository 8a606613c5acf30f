"""A tiny ExtractiveQA with random weights, a vocabulary with Han, emoji and accents, questions."""

import functools

import keras

SPECIAL_TOKENS = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
WORDS = ["the", "who", "what", "came", "on", "monday", "ada", "with", "a", "cat", "cafe", "##s"]
SYMBOLS = ["?", ".", ",", "谁", "来", "了", "小", "明", "和", "猫", "😀", "e", "##e", "##d", "was"]
VOCABULARY = SPECIAL_TOKENS + WORDS + SYMBOLS

LONG = "On Monday Ada came with a cat. " * 4
# (question, context, answer): the answers lie at the front, in the middle and at the end.
ROWS = [
    ("Who came?", "On Monday Ada came.", "Ada"),
    ("谁来了?", "小明和猫来了 😀.", "小明"),
    ("what was on?", "Café\u0301s, a cate\u0301 was on", "cate\u0301"),
    ("who", LONG, "cat. On Monday"),
    ("what?", "😀 the 👩‍👩‍👧 cat", "cat"),
    ("who came with the cat?", "the cats", None),
]


def questions(rows=ROWS):
    """Questions and contexts as columns."""
    return {"question": [row[0] for row in rows], "context": [row[1] for row in rows]}


def answers(rows=ROWS):
    """Answers as (answer, answer_start), None for none."""
    return [None if a is None else (a, context.index(a)) for _, context, a in rows]


@functools.cache
def tiny_tokenizer():
    """A lower-casing WordPiece tokenizer over `VOCABULARY`."""
    from kerazoo import WordPieceTokenizer

    return WordPieceTokenizer(vocabulary=VOCABULARY, lowercase=True)


def make_tiny_extractive_qa(sequence_length=16, stride=5, **arguments):
    """Build a fresh task with random weights; rows of 16 of its 17 positions."""
    from kerazoo import BertBackbone, ExtractiveQA, ExtractiveQAPreprocessor

    keras.utils.set_random_seed(7)
    backbone = BertBackbone(
        vocabulary_size=len(VOCABULARY),
        num_layers=2,
        num_heads=4,
        hidden_dim=20,
        intermediate_dim=24,
        max_sequence_length=17,
        initializer_range=0.3,
    )
    preprocessor = ExtractiveQAPreprocessor(
        tiny_tokenizer(), sequence_length=sequence_length, stride=stride
    )
    task = ExtractiveQA(backbone, preprocessor, **arguments)
    # Large enough that answers differ.
    task.span_head.dense.kernel.assign(task.span_head.dense.kernel * 20)
    return task


@functools.cache
def tiny_extractive_qa():
    """The same task for all tests that only ask it; it may say that there is no answer."""
    return make_tiny_extractive_qa(no_answer_threshold=0.5)
