import pytest

from kerazoo.data.row import Row
from kerazoo.data.table import Table

ROWS = [
    Row(2, {"text": "a", "label": "x"}),
    Row(3, {"text": "b", "label": "y"}),
    Row(6, {"text": "c", "label": "x"}),
]


def test_a_table_holds_columns_and_places():
    table = Table.from_rows("a.tsv", ROWS)
    assert len(table) == 3
    assert table.columns == {"text": ["a", "b", "c"], "label": ["x", "y", "x"]}
    assert table.where(2) == "a.tsv, line 6"


def test_taken_rows_keep_their_places():
    table = Table.from_rows("a.tsv", ROWS).take([2, 0])
    assert table.columns["text"] == ["c", "a"]
    assert [table.where(0), table.where(1)] == ["a.tsv, line 6", "a.tsv, line 2"]


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match=r"a\.tsv has a header and no rows"):
        Table.from_rows("a.tsv", [])


def test_a_fingerprint_is_that_of_the_rows():
    table = Table.from_rows("a.tsv", ROWS)
    assert table.fingerprint == Table.from_rows("b.tsv", ROWS).fingerprint
    others = [table.take([0, 2, 1]), table.take([0, 1]), Table("a", {"text": []}, [])]
    assert len({table.fingerprint, *(other.fingerprint for other in others)}) == 4
