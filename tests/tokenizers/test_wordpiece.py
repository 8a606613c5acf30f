import json

import keras
import numpy as np
import pytest
import tensorflow as tf
from nasty_strings import NASTY_STRINGS
from tensorflow.core.protobuf import saved_model_pb2

from kerazoo.tokenizers.wordpiece import WordPieceTokenizer

SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [
    *SPECIALS,
    "play",
    "##ed",
    "##s",
    "a",
    "##b",
    "é",
    "e",
    ".",
    "[",
    "]",
    "我",
    "爱",
    "☆",
]
VOCABULARY += [*"bcdfghijklmnopqrstuvwxyz", *(f"##{c}" for c in "acdefghijklmnopqrtuvwxyz")]
# TensorFlow Text operations that every TensorFlow Serving image links.
SERVED_TEXT_OPS = {"FastWordpieceTokenizeWithOffsets", "NormalizeUTF8", "RegexSplitWithOffsets"}
OPTIONS = [
    {},
    {"lowercase": False},
    {"strip_accents": False, "special_tokens_in_strings": True},
    {"split_on_cjk": False, "max_characters_per_word": 7},
    {"lowercase": False, "strip_accents": True, "split_unknown": True, "map_quotes": True},
]


@pytest.fixture(scope="module")
def tokenizer():
    return WordPieceTokenizer(VOCABULARY)


@pytest.fixture(scope="module", params=OPTIONS, ids=str)
def any_tokenizer(request):
    return WordPieceTokenizer(VOCABULARY, **request.param)


def equal(first, second) -> bool:
    return all(
        a.flat_values.numpy().tolist() == b.flat_values.numpy().tolist()
        and a.row_splits.numpy().tolist() == b.row_splits.numpy().tolist()
        for a, b in zip(first, second, strict=True)
    )


def test_ids_and_offsets(tokenizer):
    ids, starts, ends = tokenizer.tokenize_with_offsets(["Played É我.", "", "  "])
    assert ids.to_list() == [[5, 6, 11, 15, 12], [], []]
    assert starts.to_list() == [[0, 4, 7, 8, 9], [], []]
    assert ends.to_list() == [[4, 6, 8, 9, 10], [], []]
    assert {x.dtype for x in (ids, starts, ends)} == {tf.int32}


def test_strip_accents_follows_lowercase_unless_set():
    def first_id(**options):
        return WordPieceTokenizer(VOCABULARY, **options)("é").numpy().tolist()

    assert first_id() == first_id(strip_accents=True) == [11]
    assert first_id(strip_accents=False) == first_id(lowercase=False) == [10]
    assert first_id(lowercase=False, strip_accents=True) == [11]


def test_batches_do_not_influence_their_texts(any_tokenizer):
    together = any_tokenizer.tokenize_with_offsets(NASTY_STRINGS)
    for number in range(0, len(NASTY_STRINGS), 11):
        alone = any_tokenizer.tokenize_with_offsets(NASTY_STRINGS[number])
        for batch, single in zip(together, alone, strict=True):
            assert batch[number].numpy().tolist() == single.numpy().tolist()


def test_both_calls_give_the_same_ids(any_tokenizer):
    ids, _, _ = any_tokenizer.tokenize_with_offsets(NASTY_STRINGS)
    assert equal([any_tokenizer(NASTY_STRINGS)], [ids])


def test_eager_equals_function_and_dataset(any_tokenizer):
    eager = any_tokenizer.tokenize_with_offsets(NASTY_STRINGS)
    signature = [tf.TensorSpec([None], tf.string)]
    function = tf.function(any_tokenizer.tokenize_with_offsets, input_signature=signature)
    assert equal(eager, function(tf.constant(NASTY_STRINGS)))
    dataset = tf.data.Dataset.from_tensor_slices(NASTY_STRINGS).batch(len(NASTY_STRINGS))
    assert equal(eager, next(iter(dataset.map(any_tokenizer.tokenize_with_offsets))))
    assert equal(eager[:1], [next(iter(dataset.map(any_tokenizer)))])


def test_saved_model_equals_eager_and_can_be_served(any_tokenizer, tmp_path):
    def serve(text):
        ids, starts, ends = any_tokenizer.tokenize_with_offsets(text)
        outputs = {"ids": ids, "starts": starts, "ends": ends}
        dense = {name: value.to_tensor(-1) for name, value in outputs.items()}
        return dense | {"text": any_tokenizer.detokenize(ids)}

    module = tf.Module()
    module.serve = tf.function(serve, [tf.TensorSpec([None], tf.string, name="text")])
    tf.saved_model.save(module, str(tmp_path), signatures=module.serve)
    served = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    texts = tf.constant(NASTY_STRINGS)
    for name, expected in serve(texts).items():
        np.testing.assert_array_equal(served(texts)[name].numpy(), expected.numpy())

    saved = saved_model_pb2.SavedModel.FromString((tmp_path / "saved_model.pb").read_bytes())
    graph = saved.meta_graphs[0].graph_def
    ops = {node.op for node in graph.node}
    ops |= {node.op for function in graph.library.function for node in function.node_def}
    words = ("Py", "Xla", "Table", "While", "Wordpiece", "Normalize", "Fold", "Split", "Trim")
    assert {op for op in ops if any(word in op for word in words)} <= SERVED_TEXT_OPS


def test_invalid_bytes(tokenizer):
    texts = tf.constant([b"pl\xffay\xfe a", b"\xff\xfe", b"\xe6\x88", b"a\xc3"])
    ids, starts, ends = tokenizer.tokenize_with_offsets(texts)
    assert ids.to_list() == [[5, 8], [], [], [8]]
    assert starts.to_list() == [[0, 7], [], [], [0]]
    assert ends.to_list() == [[5, 8], [], [], [1]]


@pytest.mark.parametrize(
    ("texts", "ids"),
    [([], []), ("", []), ("   ", []), ("played", [5, 6]), (["played"], [[5, 6]])],
)
def test_small_inputs(tokenizer, texts, ids):
    result = tokenizer(texts)
    assert (result.to_list() if isinstance(texts, list) else result.numpy().tolist()) == ids


def test_special_tokens_in_strings():
    texts = ["a [MASK]", "a [MASK].", "([MASK])", "[mask]"]
    trusted = WordPieceTokenizer(VOCABULARY, special_tokens_in_strings=True)
    assert [row.count(4) for row in trusted(texts).to_list()] == [1, 1, 1, 0]
    untrusted = WordPieceTokenizer(VOCABULARY)
    assert [row.count(4) for row in untrusted(texts).to_list()] == [0, 0, 0, 0]


def test_special_ids_are_looked_up_not_assumed(tiny_tokenizer):
    assert tiny_tokenizer.pad_token_id == 3
    assert tiny_tokenizer.unk_token_id == tiny_tokenizer.token_to_id("[UNK]") == 0
    assert tiny_tokenizer.special_token_ids == [0, 1, 2, 3, 4]
    assert (tiny_tokenizer.cls_token, tiny_tokenizer.sep_token_id) == ("[CLS]", 2)
    assert tiny_tokenizer.oov_token == tiny_tokenizer.unk_token == "[UNK]"
    assert tiny_tokenizer.template_token_ids == (1, 2, 2, 3)


def test_other_names_for_special_tokens():
    names = {
        "oov_token": "<unk>",
        "cls_token": "<s>",
        "sep_token": "</s>",
        "pad_token": "<pad>",
        "mask_token": "<mask>",
    }
    tokenizer = WordPieceTokenizer([*names.values(), "a"], special_tokens_in_strings=True, **names)
    assert tokenizer("a<mask> zz</s>").numpy().tolist() == [5, 4, 0, 2]


def test_vocabulary_methods(tokenizer):
    assert tokenizer.get_vocabulary() == VOCABULARY
    assert tokenizer.vocabulary_size() == len(VOCABULARY)
    assert tokenizer.id_to_token(5) == "play"
    assert tokenizer.token_to_id("##ed") == 6
    for wrong in (-1, len(VOCABULARY)):
        with pytest.raises(ValueError, match=f"Received: id={wrong}"):
            tokenizer.id_to_token(wrong)
    with pytest.raises(ValueError, match="token='zzz'"):
        tokenizer.token_to_id("zzz")


def test_changing_the_returned_vocabulary_changes_nothing():
    tokenizer = WordPieceTokenizer(VOCABULARY)
    tokenizer.get_vocabulary().append("more")
    assert tokenizer.vocabulary_size() == len(VOCABULARY)


def test_detokenize(tokenizer):
    assert tokenizer.detokenize([5, 6, 12]).numpy() == b"played ."
    batch = tokenizer.detokenize([[15, 16], [5, 6]]).numpy().tolist()
    assert batch == ["我爱".encode(), b"played"]
    assert tokenizer.detokenize(tokenizer(["我爱", ""])).numpy().tolist() == ["我爱".encode(), b""]


def test_unknown_rate(tokenizer):
    assert tokenizer.unknown_rate(["played ★", "a"]) == 0.25


def test_vocabulary_from_a_file(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("\r\n".join([*SPECIALS, "", "\u2028", "a"]).encode())
    for source in (path, str(path)):
        tokenizer = WordPieceTokenizer(source)
        assert tokenizer.vocabulary_size() == 8
        assert tokenizer("a\u2028a").numpy().tolist() == [7, 7]


@pytest.mark.parametrize(
    ("vocabulary", "message"),
    [
        ([*SPECIALS[:3], "a"], r"lacks the special tokens \[SEP\], \[MASK\]"),
        ([*SPECIALS, "a", "a"], "twice, in lines 6 and 7"),
        ([], "lacks the special tokens"),
    ],
)
def test_wrong_vocabularies(vocabulary, message):
    with pytest.raises(ValueError, match=message):
        WordPieceTokenizer(vocabulary)


def test_a_wrong_vocabulary_leaves_the_tokenizer_as_it_was():
    tokenizer = WordPieceTokenizer(VOCABULARY)
    with pytest.raises(ValueError, match="lacks"):
        tokenizer.set_vocabulary(["a"])
    assert tokenizer("played").numpy().tolist() == [5, 6]


@pytest.mark.parametrize("limit", [0, -1])
def test_limit_must_be_positive(limit):
    with pytest.raises(ValueError, match=f"max_characters_per_word={limit}"):
        WordPieceTokenizer(VOCABULARY, max_characters_per_word=limit)


def test_without_a_vocabulary():
    tokenizer = WordPieceTokenizer(name="bare")
    for use in (tokenizer, tokenizer.tokenize_with_offsets, tokenizer.id_to_token):
        with pytest.raises(ValueError, match="no vocabulary"):
            use("a")
    for name in ("special_token_ids", "template_token_ids"):
        with pytest.raises(ValueError, match="no vocabulary"):
            getattr(tokenizer, name)


def test_config_round_trip(any_tokenizer):
    config = any_tokenizer.get_config()
    assert config["vocabulary"] is None
    json.dumps(keras.saving.serialize_keras_object(any_tokenizer))
    copy = keras.layers.deserialize(keras.layers.serialize(any_tokenizer))
    copy.set_vocabulary(any_tokenizer.get_vocabulary())
    assert copy.get_config() == config
    assert equal(
        copy.tokenize_with_offsets(NASTY_STRINGS),
        any_tokenizer.tokenize_with_offsets(NASTY_STRINGS),
    )


def test_a_configuration_cannot_name_a_file(tmp_path):
    config = WordPieceTokenizer().get_config() | {"vocabulary": str(tmp_path / "secret.txt")}
    with pytest.raises(ValueError, match="must not name a vocabulary file"):
        WordPieceTokenizer.from_config(config)


def test_preset_round_trip(any_tokenizer, tmp_path):
    any_tokenizer.save_to_preset(str(tmp_path))
    assert (tmp_path / "assets" / "tokenizer" / "vocabulary.txt").is_file()
    assert "##ed" not in (tmp_path / "tokenizer.json").read_text()
    loaded = WordPieceTokenizer.from_preset(tmp_path)
    assert loaded.get_vocabulary() == VOCABULARY
    assert loaded.get_config() == any_tokenizer.get_config()
    texts = ["Played [MASK] É我爱 “x”🎉" + "y" * 8]
    assert equal(loaded.tokenize_with_offsets(texts), any_tokenizer.tokenize_with_offsets(texts))


def test_nothing_in_it_changes_or_needs_initialising(tokenizer):
    assert tokenizer.variables == []
    before = json.dumps(tokenizer.get_config())
    tokenizer(NASTY_STRINGS)
    assert json.dumps(tokenizer.get_config()) == before


def test_created_inside_a_function():
    @tf.function
    def ids(text):
        return WordPieceTokenizer(VOCABULARY)(text)

    assert ids(tf.constant(["played"])).to_list() == [[5, 6]]
