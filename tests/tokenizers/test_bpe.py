"""What both GPT tokenizers do alike; each test runs on both."""

import json
import statistics
import time
from functools import cache

import keras
import numpy as np
import pytest
import tensorflow as tf
from bpe_reference import END_OF_TEXT, byte_vocabulary, gpt_vocabulary, write_files
from nasty_strings import NASTY_STRINGS
from tensorflow.core.protobuf import saved_model_pb2

from kerazoo.export.serving_ops import CORE_LIST, OLD_TEXT_LIST, read_op_list
from kerazoo.tokenizers.bpe import BPETokenizer
from kerazoo.tokenizers.byte_bpe import ByteBPETokenizer
from kerazoo.tokenizers.gpt_bpe import GPTBPETokenizer

KINDS = {"byte": (ByteBPETokenizer, byte_vocabulary), "gpt": (GPTBPETokenizer, gpt_vocabulary)}
TEXTS = ["The quick brown FOX, don't!", "", "  ", "中文 $5 <s> café\u0301 naïve", "a" * 40, "🎉"]


@cache
def make(kind, **options):
    tokenizer_class, vocabulary = KINDS[kind]
    return tokenizer_class(*vocabulary(), **options)


@pytest.fixture(scope="module", params=KINDS)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def tokenizer(kind):
    return make(kind, task_tokens=True)


def equal(first, second) -> bool:
    return all(
        a.flat_values.numpy().tolist() == b.flat_values.numpy().tolist()
        and a.row_splits.numpy().tolist() == b.row_splits.numpy().tolist()
        for a, b in zip(first, second, strict=True)
    )


def test_both_calls_give_the_same_ids(tokenizer):
    ids, starts, ends = tokenizer.tokenize_with_offsets(NASTY_STRINGS)
    assert equal([tokenizer(NASTY_STRINGS)], [ids])
    assert {x.dtype for x in (ids, starts, ends)} == {tf.int32}
    assert {x.row_splits.dtype for x in (ids, starts, ends)} == {tf.int64}


def test_batches_do_not_influence_their_texts(tokenizer):
    together = tokenizer.tokenize_with_offsets(NASTY_STRINGS)
    for number in range(0, len(NASTY_STRINGS), 11):
        alone = tokenizer.tokenize_with_offsets(NASTY_STRINGS[number])
        for batch, single in zip(together, alone, strict=True):
            assert batch[number].numpy().tolist() == single.numpy().tolist()


@pytest.mark.slow
def test_single_texts_take_milliseconds_and_a_batch_far_less(tokenizer):
    texts = [f"The weather of day {number} was fine, wasn't it?" for number in range(100)]

    def seconds(calls):
        taken = []
        for call in calls:
            begin = time.perf_counter()
            tokenizer(call)
            taken.append(time.perf_counter() - begin)
        return taken

    seconds([texts[0], texts])
    alone, together = seconds(texts), min(seconds([texts] * 3))
    assert statistics.median(alone) < 0.03  # 2 ms on a machine that does nothing else
    assert together < sum(alone) / 4


def test_eager_equals_function_and_dataset(tokenizer):
    eager = tokenizer.tokenize_with_offsets(NASTY_STRINGS)
    signature = [tf.TensorSpec([None], tf.string)]
    function = tf.function(tokenizer.tokenize_with_offsets, input_signature=signature)
    assert equal(eager, function(tf.constant(NASTY_STRINGS)))
    dataset = tf.data.Dataset.from_tensor_slices(NASTY_STRINGS).batch(len(NASTY_STRINGS))
    assert equal(eager, next(iter(dataset.map(tokenizer.tokenize_with_offsets))))
    assert equal(eager[:1], [next(iter(dataset.map(tokenizer)))])
    texts = next(iter(dataset.map(tokenizer).map(tokenizer.detokenize)))
    assert texts.numpy().tolist() == tokenizer.detokenize(eager[0]).numpy().tolist()


def test_saved_model_equals_eager_and_can_be_served(kind, tmp_path):
    tokenizer = make(kind, task_tokens=True, special_tokens_in_strings=True)

    def serve(text):
        ids, starts, ends = tokenizer.tokenize_with_offsets(text)
        outputs = {"ids": ids, "starts": starts, "ends": ends}
        dense = {name: value.to_tensor(-1) for name, value in outputs.items()}
        return dense | {"text": tokenizer.detokenize(ids)}

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
    ops -= {function.signature.name for function in graph.library.function}
    assert ops <= read_op_list(CORE_LIST) | read_op_list(OLD_TEXT_LIST)
    assert not {op for op in ops if "Py" in op or "Table" in op or "Xla" in op or "Var" in op}


@pytest.mark.parametrize("texts", [[], "", [""], ["", ""]])
def test_nothing(tokenizer, texts):
    ids, starts, ends = tokenizer.tokenize_with_offsets(texts)
    expected = [] if isinstance(texts, str) else [[] for _ in texts]
    for result in (ids, starts, ends, tokenizer(texts)):
        assert (result.numpy().tolist() if isinstance(texts, str) else result.to_list()) == expected


def test_every_rank(tokenizer):
    first, second = tokenizer(["the fox", "don't"]).to_list()
    assert tokenizer("the fox").numpy().tolist() == first
    nested = tf.ragged.constant([["the fox"], [], ["don't", "the fox"]])
    assert tokenizer(nested).to_list() == [[first], [], [second, first]]
    with pytest.raises(TypeError, match="element of type int"):
        tokenizer(["a", 1])


def test_vocabulary_methods(kind, tokenizer):
    vocabulary, merges = KINDS[kind][1]()
    entries = sorted(vocabulary, key=vocabulary.__getitem__)
    assert tokenizer.get_vocabulary() == [*entries, "<s>", "$", "<e>"]
    assert tokenizer.get_merges() == merges
    assert tokenizer.vocabulary_size() == len(entries) + 3
    assert make(kind).vocabulary_size() == len(entries)
    for number in (0, 300, len(entries) - 1):
        assert tokenizer.token_to_id(tokenizer.id_to_token(number)) == number
    for wrong in (-1, len(entries) + 3):
        with pytest.raises(ValueError, match=f"Received: id={wrong}"):
            tokenizer.id_to_token(wrong)
    with pytest.raises(ValueError, match="token='zzzz'"):
        tokenizer.token_to_id("zzzz")


def test_changing_what_is_returned_changes_nothing(tokenizer):
    size = tokenizer.vocabulary_size()
    tokenizer.get_vocabulary().append("more")
    tokenizer.get_merges().clear()
    assert tokenizer.vocabulary_size() == size
    assert tokenizer.get_merges()


def test_task_tokens_are_ids_that_no_text_gives(kind, tokenizer):
    count = len(KINDS[kind][1]()[0])
    ids = (
        tokenizer.text_start_token_id,
        tokenizer.delimiter_token_id,
        tokenizer.extract_token_id,
    )
    assert ids == (count, count + 1, count + 2)
    assert [tokenizer.id_to_token(number) for number in ids] == ["<s>", "$", "<e>"]
    assert tokenizer.template_token_ids == (*ids, tokenizer.pad_token_id)
    assert set(ids) <= set(tokenizer.special_token_ids)
    texts = ["<s> a $ b <e>", "<s>", "$", "<e>", "$5", *NASTY_STRINGS]
    trusting = make(kind, task_tokens=True, special_tokens_in_strings=True)
    for one in (tokenizer, trusting):
        assert one(texts).flat_values.numpy().max() < count
    assert tokenizer.token_to_id("$") < count


def test_without_task_tokens(kind):
    tokenizer = make(kind)
    assert tokenizer.text_start_token_id is None
    with pytest.raises(ValueError, match="with_task_tokens.*task_tokens=False"):
        _ = tokenizer.template_token_ids
    more = tokenizer.with_task_tokens()
    assert more.with_task_tokens() is more
    assert more.get_config() == tokenizer.get_config() | {"task_tokens": True}
    assert more.vocabulary_size() == tokenizer.vocabulary_size() + 3
    assert equal([more(NASTY_STRINGS)], [tokenizer(NASTY_STRINGS)])


def test_a_dollar_that_the_vocabulary_lacks_does_not_become_the_delimiter():
    vocabulary = {"<unk>": 0, "a</w>": 1}
    tokenizer = GPTBPETokenizer(vocabulary, [], task_tokens=True)
    assert tokenizer("a $").numpy().tolist() == [1, 0]
    with pytest.raises(ValueError, match="token='.'"):
        tokenizer.token_to_id("$")


def test_task_tokens_before_the_vocabulary():
    tokenizer = ByteBPETokenizer(task_tokens=True)
    assert tokenizer.with_task_tokens() is tokenizer
    more = ByteBPETokenizer(name="bare").with_task_tokens()
    assert (more.name, more.has_vocabulary) == ("bare", False)
    more.set_vocabulary_and_merges(*byte_vocabulary())
    assert more.extract_token_id == 702


def test_detokenize_shows_special_tokens(tokenizer):
    ids = [tokenizer.text_start_token_id, *tokenizer("good").numpy(), tokenizer.extract_token_id]
    text = tokenizer.detokenize(ids).numpy()
    assert text.startswith(b"<s>good") and text.endswith(b"<e>")
    batch = tokenizer.detokenize(tokenizer(["good", "", "the fox"])).numpy().tolist()
    assert batch == [b"good", b"", b"the fox"]


def test_vocabulary_from_files(kind, tmp_path):
    tokenizer_class, vocabulary = KINDS[kind]
    paths = write_files(tmp_path, *vocabulary())
    expected = make(kind)(TEXTS)
    assert equal([tokenizer_class(*paths)(TEXTS)], [expected])
    assert tokenizer_class(*map(str, paths)).get_vocabulary() == make(kind).get_vocabulary()


def test_vocabulary_and_merges_belong_together(kind):
    tokenizer_class, vocabulary = KINDS[kind]
    with pytest.raises(ValueError, match="belong together.*vocabulary=a dict, merges=None"):
        tokenizer_class(vocabulary()[0])
    with pytest.raises(ValueError, match="vocabulary=None, merges=a list"):
        tokenizer_class(merges=vocabulary()[1])


def test_a_wrong_vocabulary_leaves_the_tokenizer_as_it_was(kind):
    tokenizer = make(kind, name="changed")
    before = tokenizer("the fox").numpy().tolist()
    for vocabulary, merges in (({"a": 0}, []), ({"a": 1}, []), (KINDS[kind][1]()[0], ["zz zz"])):
        with pytest.raises(ValueError, match="Received"):
            tokenizer.set_vocabulary_and_merges(vocabulary, merges)
    assert tokenizer("the fox").numpy().tolist() == before


def test_without_a_vocabulary(kind):
    tokenizer = KINDS[kind][0](name="bare", task_tokens=True)
    assert not tokenizer.has_vocabulary
    uses = (tokenizer, tokenizer.tokenize_with_offsets, tokenizer.token_to_id)
    for use in (*uses, lambda _: tokenizer.template_token_ids, tokenizer.save_assets):
        with pytest.raises(ValueError, match="no vocabulary"):
            use("a")
    with pytest.raises(ValueError, match="no vocabulary"):
        tokenizer.detokenize([0])


def test_config_round_trip(kind, tokenizer):
    config = tokenizer.get_config()
    assert config["vocabulary"] is config["merges"] is None
    json.dumps(keras.saving.serialize_keras_object(tokenizer))
    copy = keras.layers.deserialize(keras.layers.serialize(tokenizer))
    copy.set_vocabulary_and_merges(*KINDS[kind][1]())
    assert copy.get_config() == config
    assert copy.special_token_ids == tokenizer.special_token_ids
    assert equal(copy.tokenize_with_offsets(TEXTS), tokenizer.tokenize_with_offsets(TEXTS))


@pytest.mark.parametrize("argument", ["vocabulary", "merges"])
def test_a_configuration_cannot_name_a_file(kind, argument, tmp_path):
    config = KINDS[kind][0]().get_config() | {argument: str(tmp_path / "secret.txt")}
    with pytest.raises(ValueError, match="must not name a file"):
        KINDS[kind][0].from_config(config)


def test_preset_round_trip(kind, tokenizer, tmp_path):
    tokenizer.save_to_preset(str(tmp_path))
    folder = tmp_path / "assets" / "tokenizer"
    assert {path.name for path in folder.iterdir()} == {"vocabulary.json", "merges.txt"}
    assert json.loads((folder / "vocabulary.json").read_text("utf-8")) == KINDS[kind][1]()[0]
    loaded = BPETokenizer.from_preset(tmp_path)
    assert type(loaded) is KINDS[kind][0]
    assert loaded.get_config() == tokenizer.get_config()
    assert loaded.get_vocabulary() == tokenizer.get_vocabulary()
    assert equal(loaded.tokenize_with_offsets(TEXTS), tokenizer.tokenize_with_offsets(TEXTS))


def test_nothing_in_it_changes_or_needs_initialising(tokenizer):
    assert tokenizer.variables == []
    before = json.dumps(tokenizer.get_config())
    tokenizer(NASTY_STRINGS)
    assert json.dumps(tokenizer.get_config()) == before


def test_created_inside_a_function(kind):
    @tf.function
    def ids(text):
        return KINDS[kind][0](*KINDS[kind][1]())(text)

    assert equal([ids(tf.constant(TEXTS))], [make(kind)(TEXTS)])


def test_special_tokens_must_be_entries(kind):
    with pytest.raises(ValueError, match="lacks a special token.*end_token='<end>'"):
        make(kind, end_token="<end>")


def test_padding_follows_the_end_token(kind):
    entries = make(kind).get_vocabulary()
    assert make(kind, end_token=entries[400]).pad_token_id == 400
    assert make(kind, end_token=entries[400], pad_token=entries[401]).pad_token_id == 401
    assert make(kind, end_token=None).pad_token_id == 0
    assert make(kind, end_token=entries[5], start_token=entries[7]).start_token_id == 7
    assert make(kind, end_token=entries[5]).start_token_id == 5
    assert make(kind, end_token=None).start_token_id is None


def test_what_a_subclass_must_define():
    vocabulary = {END_OF_TEXT: 0}
    with pytest.raises(TypeError, match="BPETokenizer does not define `make_encoder`"):
        BPETokenizer(vocabulary, [], {}, special_tokens_in_strings=False, task_tokens=False)
