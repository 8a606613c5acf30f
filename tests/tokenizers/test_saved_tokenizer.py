import keras_nlp
import pytest

from kerazoo import WordPieceTokenizer
from kerazoo.conversion.json_file import read_json_object
from kerazoo.tokenizers.saved_tokenizer import saved_tokenizer

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "ada", "came", "##s", "小", "é", "e"]
TEXTS = ["Ada cames 小小", "é", "[MASK] ada"]


def read(tokenizer, folder):
    tokenizer.save_to_preset(str(folder))
    return saved_tokenizer(read_json_object(folder / "tokenizer.json"), folder)


def test_our_own_is_read_as_it_is(tmp_path):
    own = WordPieceTokenizer(VOCABULARY, lowercase=False, split_unknown=True)
    copy = read(own, tmp_path)
    assert type(copy) is WordPieceTokenizer
    assert copy.split_unknown and not copy.lowercase
    assert list(copy.get_vocabulary()) == VOCABULARY


@pytest.mark.parametrize("options", [{"lowercase": True}, {"strip_accents": True}])
def test_kerashubs_for_bert_becomes_ours_with_the_same_ids(tmp_path, options):
    theirs = keras_nlp.models.BertTokenizer(VOCABULARY, **options)
    ours = read(theirs, tmp_path)
    assert type(ours) is WordPieceTokenizer
    assert ours(TEXTS).to_list() == [list(row) for row in theirs(TEXTS)]
    ids, starts, _ = ours.tokenize_with_offsets(["小  came"])
    assert (ids.to_list(), starts.to_list()) == ([[8, 6]], [[0, 3]])


def test_what_cannot_be_taken_over_is_named(tmp_path):
    whole = keras_nlp.models.BertTokenizer(VOCABULARY, split=False)
    with pytest.raises(ValueError, match="BERT's alone.*Received: tokenizer=BertTokenizer"):
        read(whole, tmp_path)
