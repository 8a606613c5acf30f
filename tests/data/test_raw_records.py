import numpy as np
import pytest

from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings
from kerazoo.data.raw_records import raw_records, raw_row_format
from kerazoo.data.records import read_shards


@pytest.mark.parametrize("objective", ["bert", "bert-mlm"])
def test_rows_are_those_of_shards_in_every_epoch(corpus, tiny_tokenizer, tmp_path, objective):
    file = corpus(11)
    settings = PrepareSettings(
        objective=objective, sequence_length=19, documents_per_block=5, blocks_per_shard=1
    )
    prepare([file], tiny_tokenizer, tmp_path / "shards", settings)
    expected = list(read_shards(tmp_path / "shards").as_numpy_iterator())
    raw = raw_records([file], tiny_tokenizer, settings)
    assert list(raw.as_numpy_iterator()) == expected
    assert list(raw.as_numpy_iterator()) == expected
    rows = next(iter(raw.batch(3).map(raw_row_format(tiny_tokenizer, settings).parse)))
    assert rows["token_ids"].shape == (3, 19)
    assert np.all(rows["token_ids"][:, 0] == tiny_tokenizer.cls_token_id)


def test_wrong_bytes_are_told_by_name_and_line(tiny_tokenizer, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"good\nb\xe4d\n")
    settings = PrepareSettings(objective="bert-mlm")
    with pytest.raises(Exception, match=r"a\.txt, line 2: byte 2 of the line is not UTF-8"):
        list(raw_records([str(tmp_path)], tiny_tokenizer, settings))
