"""Tags of words to targets of the tokens in windows."""

import dataclasses
from collections.abc import Sequence

import tensorflow as tf

from kerazoo.metrics.entity_spans import OUTSIDE, split_tag
from kerazoo.preprocessing.tagged_windows import TaggedWindows
from kerazoo.preprocessing.text_words import NO_TOKEN
from kerazoo.tokenizers.running_total import running_total
from kerazoo.tokenizers.token_rows import row_of_each_token


@dataclasses.dataclass(frozen=True)
class TagTable:
    """What is known of each tag, by its number.

    Args:
        types: the types of entities, each once.
        type_of: (tags,), the number of the tag's type; -1 for O.
        begins: (tags,), whether the tag always begins an entity (B-, S-).
        ends: (tags,), whether nothing goes on behind it (E-, S-).
        inside: (tags,), the tag of a word's later tokens: I- for B-; itself where there is none.
    """

    types: tuple[str, ...]
    type_of: tuple[int, ...]
    begins: tuple[bool, ...]
    ends: tuple[bool, ...]
    inside: tuple[int, ...]

    @classmethod
    def of(cls, labels: Sequence[str]) -> "TagTable":
        """Return the table of tags in the order of the classes."""
        parts = [split_tag(label) for label in labels]
        types = tuple(dict.fromkeys(kind for prefix, kind in parts if prefix != OUTSIDE))
        numbers = {label: number for number, label in enumerate(labels)}
        return cls(
            types=types,
            type_of=tuple(types.index(kind) if prefix != OUTSIDE else -1 for prefix, kind in parts),
            begins=tuple(prefix in ("B", "S") for prefix, _ in parts),
            ends=tuple(prefix in ("E", "S") for prefix, _ in parts),
            inside=tuple(
                numbers.get(f"I-{kind}", number) if prefix == "B" else number
                for number, (prefix, kind) in enumerate(parts)
            ),
        )

    def begins_entity(self, tags: tf.Tensor, rows: tf.Tensor) -> tf.Tensor:
        """Return where entities begin; an I- that goes on with none of its type begins one.

        Args:
            tags: (n,) int32, of all texts one after another.
            rows: (n,) int64, the text of each.

        Returns:
            (n,) bool.
        """
        type_of = tf.gather(tf.constant(self.type_of), tags)
        ends = tf.gather(tf.constant(self.ends), tags)
        goes_on = (rows[1:] == rows[:-1]) & (type_of[1:] == type_of[:-1]) & ~ends[:-1]
        goes_on &= ~tf.gather(tf.constant(self.begins), tags[1:])
        is_first = tf.concat([tf.ones_like(tags[:1], tf.bool), ~goes_on], axis=0)
        return is_first & (type_of >= 0)


def span_tags(
    windows: TaggedWindows,
    starts: tf.RaggedTensor,
    ends: tf.RaggedTensor,
    begin_tags: tf.RaggedTensor,
    inside_tags: tf.RaggedTensor,
    outside: int,
) -> tf.RaggedTensor:
    """Return the tags of words for entities that are spans of characters.

    A word belongs to the first entity that shares a character with it, and is the first word of an
    entity if the word before does not belong to it.

    Args:
        windows: the packed texts.
        starts: (texts, entities) int32, first characters, ascending; entities do not overlap.
        ends: (texts, entities) int32, the characters behind the last ones.
        begin_tags: (texts, entities) int32, the tag of the first word of each entity.
        inside_tags: (texts, entities) int32, the tag of its other words.
        outside: int, the tag of all other words.

    Returns:
        (texts, words) int32.
    """
    words = windows.words
    # Positions along all texts, so that one sorted search does.
    base = running_total(tf.strings.length(windows.texts, unit="UTF8_CHAR") + 1)
    row = row_of_each_token(words.starts)
    word_start = tf.gather(base, row) + words.starts.flat_values
    word_end = tf.gather(base, row) + words.ends.flat_values
    entity_base = tf.gather(base, row_of_each_token(starts))
    count = tf.size(entity_base)
    entity = tf.searchsorted(entity_base + ends.flat_values, word_start, side="right")
    # One more, in which nothing lies.
    entity_start = tf.concat([entity_base + starts.flat_values, base[-1:]], axis=0)
    is_inside = (entity < count) & (tf.gather(entity_start, entity) < word_end)
    goes_on = tf.concat([[False], (entity[1:] == entity[:-1]) & is_inside[:-1]], axis=0)
    goes_on = goes_on[: tf.size(entity)]
    begins, insides = (
        tf.gather(tf.concat([tags.flat_values, [outside]], axis=0), entity)
        for tags in (begin_tags, inside_tags)
    )
    tags = tf.where(is_inside, tf.where(goes_on, insides, begins), outside)
    return words.starts.with_flat_values(tags)


def tag_targets(
    windows: TaggedWindows, tags: tf.RaggedTensor, table: TagTable, all_pieces: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Return targets and weights of the tokens in windows.

    The first token of a word has its tag, or all of them if `all_pieces`, the later ones with I-
    for B-. Each word has it in one window alone: that which owns the first word of its entity, if
    it reaches the word, so that no entity is cut in two; words beyond its end are left out.

    Args:
        windows: the packed texts.
        tags: (texts, words) int32.
        table: of the task's tags.
        all_pieces: bool, whether later tokens of a word are targets too.

    Returns:
        Targets, (windows, seq) int32, 0 elsewhere, and weights, (windows, seq) float32, 1 on
        targets.
    """
    words = windows.visible_words()
    tag = tf.gather(tags.flat_values, words)
    rows = tf.gather(row_of_each_token(tags), words)
    token = windows.first_tokens(words)
    is_outside = tf.gather(tf.constant(table.type_of), tag) < 0
    is_head = table.begins_entity(tag, rows) | is_outside
    head_tokens = tf.gather(token, tf.where(is_head)[:, 0])
    head = tf.cumsum(tf.cast(is_head, tf.int32)) - 1
    owner = tf.gather(windows.owner, tf.gather(head_tokens, head))
    if all_pieces:
        token, tag, owner = _later_tokens_too(windows, words, tag, owner, table)
    position = windows.positions_in(owner, token)
    is_seen = position <= tf.gather(windows.windows.length, owner)
    places = tf.boolean_mask(tf.stack([owner, position], axis=1), is_seen)
    shape = tf.shape(windows.features["token_ids"])
    targets = tf.scatter_nd(places, tf.boolean_mask(tag, is_seen), shape)
    weights = tf.scatter_nd(places, tf.ones_like(places[:, 0], tf.float32), shape)
    return targets, weights


def _later_tokens_too(
    windows: TaggedWindows, words: tf.Tensor, tag: tf.Tensor, owner: tf.Tensor, table: TagTable
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Return all tokens of words, with tags and windows; the arguments are those of the words."""
    word_of_token = windows.words.word_of_token
    tokens = tf.where(word_of_token.flat_values != NO_TOKEN)[:, 0]
    rows = tf.gather(row_of_each_token(word_of_token), tokens)
    row_starts = tf.gather(windows.words.starts.row_starts(), rows)
    word = tf.cast(tf.gather(word_of_token.flat_values, tokens), tf.int64) + row_starts
    index = tf.searchsorted(words, word)
    token = tf.cast(tokens, tf.int32)
    is_first = token == tf.gather(windows.first_tokens(words), index)
    tag = tf.gather(tag, index)
    tag = tf.where(is_first, tag, tf.gather(tf.constant(table.inside), tag))
    return token, tag, tf.gather(owner, index)
