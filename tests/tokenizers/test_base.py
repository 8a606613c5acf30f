import json

import keras
import keras_nlp
import numpy as np
import pytest
import tensorflow as tf

from kerazoo.tokenizers.base import Tokenizer


@keras.saving.register_keras_serializable(package="kerazoo_test")
class Characters(Tokenizer):
    """A token a byte: id 0 is unknown (upper case), 1 a special token ("#"), 2 anything else."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.file_assets = ["note.txt"]
        self._add_special_token("?", "unk_token")
        self._add_special_token("#", "end_token")
        self._add_special_token("#", "pad_token")

    def token_to_id(self, token):
        return {"?": 0, "#": 1}[token]

    def tokenize_rows(self, texts):
        characters = tf.strings.bytes_split(texts)
        codes = tf.strings.unicode_decode(characters.flat_values, "UTF-8").flat_values
        ids = tf.where(codes < 97, 0, 2)
        return characters.with_flat_values(tf.where(codes == 35, 1, ids))

    def tokenize_rows_with_offsets(self, texts):
        ids = self.tokenize_rows(texts)
        starts = tf.ragged.range(tf.cast(ids.row_lengths(), tf.int32))
        return ids, starts, starts + 1

    def save_assets(self, dir_path):
        with open(f"{dir_path}/note.txt", "w", encoding="utf-8") as file:
            file.write("saved")

    def load_assets(self, dir_path):
        with open(f"{dir_path}/note.txt", encoding="utf-8") as file:
            self.note = file.read()


def listed(ids):
    return ids.to_list() if isinstance(ids, tf.RaggedTensor) else ids.numpy().tolist()


@pytest.mark.parametrize(
    ("texts", "ids"),
    [
        ("aB#", [2, 0, 1]),
        ("", []),
        ([], []),
        ([""], [[]]),
        (["a", "", "Bb"], [[2], [], [0, 2]]),
        (np.array(["a", "B"]), [[2], [0]]),
        ([["a", "B"], ["", "ab"], ["C", "#"]], [[[2], [0]], [[], [2, 2]], [[0], [1]]]),
        (tf.ragged.constant([["a", "B"], [], ["bb"]]), [[[2], [0]], [], [[2, 2]]]),
        (
            tf.ragged.constant([["a", "B"], ["bb"]], row_splits_dtype=tf.int32),
            [[[2], [0]], [[2, 2]]],
        ),
        (
            tf.RaggedTensor.from_row_lengths([["a", "B"], ["C", ""]], [2, 0]),
            [[[[2], [0]], [[0], []]], []],
        ),
        (tf.zeros([0, 3], tf.string), []),
    ],
)
def test_every_rank(texts, ids):
    tokenizer = Characters()
    for result in (tokenizer(texts), tokenizer.tokenize(texts)):
        assert isinstance(result, (tf.Tensor, tf.RaggedTensor))
        assert result.dtype == tf.int32
        assert listed(result) == ids
    with_offsets = tokenizer.tokenize_with_offsets(texts)
    assert listed(with_offsets[0]) == ids
    starts, ends = with_offsets[1:]
    assert (ends - starts).shape.rank == with_offsets[0].shape.rank


def test_scalar_gives_a_dense_row():
    ids, starts, ends = Characters().tokenize_with_offsets("abc")
    assert [x.shape.rank for x in (ids, starts, ends)] == [1, 1, 1]
    assert (listed(starts), listed(ends)) == ([0, 1, 2], [1, 2, 3])


def test_unknown_rank_in_a_graph():
    function = tf.function(Characters().tokenize)
    with pytest.raises(ValueError, match="number of axes"):
        function.get_concrete_function(tf.TensorSpec(None, tf.string))


def test_symbolic_output():
    output = Characters()(keras.KerasTensor((3,), dtype="string"))
    assert (output.shape, output.dtype) == ((3, None), "int32")


def test_special_tokens_are_listed_once_and_in_order():
    tokenizer = Characters()
    assert tokenizer.special_tokens == ["?", "#"]
    assert tokenizer.special_token_ids == [0, 1]
    tokenizer.unk_token_id = None
    with pytest.raises(ValueError, match="no vocabulary"):
        _ = tokenizer.special_token_ids


@pytest.mark.parametrize(
    ("texts", "rate"),
    [
        (["aB", "bb"], 0.25),
        (["aB##", "b#b"], 0.25),
        (iter(["B"] + ["a"] * 2999), 1 / 3000),
        (["#"], 0.0),
        ([], 0.0),
        (["B"], 1.0),
    ],
)
def test_unknown_rate(texts, rate):
    assert Characters().unknown_rate(texts) == rate


def test_dtype_is_int32():
    assert Characters(dtype="int32").compute_dtype == "int32"
    with pytest.raises(ValueError, match="int32.*dtype='int64'"):
        Characters(dtype="int64")


def test_it_is_a_kerashub_tokenizer():
    assert issubclass(Tokenizer, keras_nlp.tokenizers.Tokenizer)


def test_preset_round_trip(tmp_path):
    Characters(name="mine").save_to_preset(str(tmp_path))
    loaded = Tokenizer.from_preset(tmp_path)
    assert isinstance(loaded, Characters)
    assert (loaded.name, loaded.note) == ("mine", "saved")
    assert Tokenizer.from_preset(str(tmp_path), name="other").name == "other"


def test_folder_without_a_tokenizer(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no saved tokenizer"):
        Tokenizer.from_preset(tmp_path)


def test_hugging_face_folder(tmp_path):
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": {}}))
    with pytest.raises(ValueError, match="kerazoo convert"):
        Tokenizer.from_preset(tmp_path)


def test_preset_of_another_class(tmp_path):
    class Other(Tokenizer):
        pass

    Characters().save_to_preset(str(tmp_path))
    with pytest.raises(ValueError, match="no Other.*a Characters"):
        Other.from_preset(tmp_path)


def test_what_a_subclass_must_define():
    with pytest.raises(TypeError, match="tokenize_rows"):
        Tokenizer()("a")
    with pytest.raises(TypeError, match="tokenize_rows_with_offsets"):
        Tokenizer().tokenize_with_offsets("a")
    with pytest.raises(TypeError, match="has_vocabulary"):
        _ = Tokenizer().has_vocabulary
    with pytest.raises(TypeError, match="template_token_ids"):
        _ = Tokenizer().template_token_ids
