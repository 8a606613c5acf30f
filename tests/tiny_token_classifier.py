"""A tiny TokenClassifier with random weights, sentences with Han, emoji, accents and marks."""

import functools

import keras
from tiny_extractive_qa import VOCABULARY, tiny_tokenizer

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]

# Words with tags; of the last word of the third sentence nothing is left to the model.
SENTENCES = [
    (["Ada", "came", "on", "Monday", "."], ["B-PER", "O", "O", "B-LOC", "O"]),
    (["小", "明", "😀", "和", "Ada"], ["B-PER", "I-PER", "O", "O", "B-PER"]),
    (["The", "Cafe\u0301s", "was", "cated", "\u200b"], ["O", "B-LOC", "I-LOC", "O", "O"]),
    ([*["the", "cats", "came", "with", "a"] * 5, "Ada"], [*["O"] * 23, "B-LOC", "I-LOC", "B-PER"]),
    (["cats"], ["B-PER"]),
]
WORDS = [words for words, _ in SENTENCES]
TAGS = [tags for _, tags in SENTENCES]

# Texts with entities; spaces before, between and behind.
TEXTS = [
    "  Ada  came on Monday.",
    "小明 😀和Ada",
    "the Cafe\u0301s, was 👩‍👩‍👧 Ada",
    "the cats came with a " * 6 + "Ada, Ada cats",
    "",
    " \u200b ",
]
ENTITIES = [
    [(2, 5, "PER"), (15, 21, "LOC")],
    [(0, 2, "PER"), (5, 8, "PER")],
    [(4, 10, "LOC"), (22, 25, "PER")],
    [(126, 129, "PER"), (131, 139, "PER")],
    [],
    [],
]


def make_tiny_token_classifier(sequence_length=13, stride=4, labels=LABELS, **arguments):
    """Build a fresh task with random weights; rows of 13 of its 17 positions."""
    from kerazoo import BertBackbone, TokenClassifier, TokenClassifierPreprocessor

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
    packing = {
        key: arguments.pop(key)
        for key in ("label_all_pieces", "word_separator")
        if key in arguments
    }
    preprocessor = TokenClassifierPreprocessor(
        tiny_tokenizer(), sequence_length=sequence_length, stride=stride, **packing
    )
    task = TokenClassifier(backbone, labels=labels, preprocessor=preprocessor, **arguments)
    # Large enough that tags differ.
    task.classifier.kernel.assign(task.classifier.kernel * 20)
    return task


@functools.cache
def tiny_token_classifier(crf=False):
    """The same task for all tests that only ask it."""
    task = make_tiny_token_classifier(crf=crf)
    if crf:
        for weight in task.crf.trainable_weights:
            weight.assign(keras.random.normal(weight.shape, seed=3))
    return task
