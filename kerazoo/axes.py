"""Glossary: the axis names, feature keys and dtypes that every docstring and error message uses.

Axes, in the order in which they appear in shapes:

* ``batch``: the texts (or pairs of texts) that are computed together.
* ``seq``: the positions of one packed text, special tokens and padding included.
* ``hidden``: the width of a state (``hidden_dim``).
* ``heads``: the attention heads; ``head`` is the width of one of them, ``hidden / heads``.
* ``query``, ``key``: ``seq`` again, as the position that looks and the position that is looked at.
* ``vocabulary``: the rows of the token embedding matrix.
* ``classes``: the labels of a classifier.
* ``choices``: the answers that a multiple-choice task chooses from.
* ``orders``: the two orders in which a similarity task may read a pair.
* ``masks``: the positions of a row that a masked language model has to fill in.
* ``words``: the words of a text that is cut into words.
* ``tags``: the tags of a token classifier, which are its classes.
* ``windows``: overlapping parts of long texts, each packed as a row.
"""

from typing import Any, TypeAlias

Tensor: TypeAlias = Any
"""A tensor of the backend at work, a NumPy array, or a symbolic tensor while a graph is built."""

Initializer: TypeAlias = Any
"""A `keras.initializers.Initializer`, its name, or its serialised form."""

TOKEN_IDS = "token_ids"
"""Vocabulary ids, (batch, seq) int32."""

SEGMENT_IDS = "segment_ids"
"""0 for the first text, 1 for the second, 0 on padding, (batch, seq) int32."""

PADDING_MASK = "padding_mask"
"""1 on real tokens, 0 on padding, (batch, seq) int32."""

TEXT = "text"
"""Key of the (first) text, (batch,) string."""

TEXT_PAIR = "text_pair"
"""Key of the second text of a pair, (batch,) string."""

CONTEXT = "context"
"""Key of what a question is about: the passage that it is answered from, (batch,) string."""

QUESTION = "question"
"""Key of a question, (batch,) string."""

CHOICES = "choices"
"""Key of the answers to choose from, (batch, choices) string; an empty one is padding."""

QUESTION_ID = "id"
"""Key of the name that a file gives to a question, (batch,) string."""

ANSWERS = "answers"
"""Key of all right answers to a question in a file, each a text and its first character."""

ANSWER = "answer"
"""Key of the answer to a question, a slice of its context, "" if it has none, (batch,) string."""

ANSWER_START = "answer_start"
"""Key of the character of the context at which the answer begins, -1 if none, (batch,) int32."""

ANSWER_MASK = "answer_mask"
"""1 where answers may begin and end: passage and the token for "no answer", (batch, seq) int32."""

START_LOGITS = "start_logits"
"""Key of logits and targets of an answer's first token, and name of the output."""

END_LOGITS = "end_logits"
"""Key of logits and targets of an answer's last token, and name of the output."""

WORDS = "words"
"""Key of the words of texts that are cut into words already, (batch, words) string, ragged."""

TAGS = "tags"
"""Key of the tag of each word, (batch, words) string, ragged."""

ENTITIES = "entities"
"""Key of the entities of a text, each with `start`, `end` (characters, half-open) and `type`."""

LABEL = "label"
"""Key of the label, (batch,) string or int32."""

WORD_STARTS = "word_starts"
"""True on the first piece of each word, False on special tokens and padding, (batch, seq) bool."""

MASK_POSITIONS = "mask_positions"
"""Positions to fill in, in ascending order, 0 on unused slots, (batch, masks) int32."""

MASK_IDS = "mask_ids"
"""The ids that stood there, the pad id on unused slots, (batch, masks) int32."""

MASK_WEIGHTS = "mask_weights"
"""1 on used slots, 0 on the others, (batch, masks) float32."""

NEXT_SENTENCE_LABEL = "next_sentence_label"
"""0 if the second text follows the first one, 1 if it comes from elsewhere, (batch,) int32."""

MASKED_LM = "masked_lm"
"""Key of logits, targets and weights at the masks, and name of the head that computes them."""

NEXT_SENTENCE = "next_sentence"
"""Key of logits, targets and weights of next-sentence prediction, and name of its head."""

SEQUENCE_OUTPUT = "sequence_output"
"""Last hidden states of a backbone, (batch, seq, hidden) float."""

POOLED_OUTPUT = "pooled_output"
"""One vector a text, (batch, hidden) float."""

ID_DTYPE = "int32"
"""Dtype of ids, segments and masks, on every backend and in every served signature."""
