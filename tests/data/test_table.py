import dataclasses

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


def test_rows_left_out_stand_on_a_line_each_and_the_rest_is_counted():
    faults = tuple(f"a.tsv, line {line}: it is wrong." for line in (1, 4, 5, 7, 8))
    left_out = dataclasses.replace(Table.from_rows("a.tsv", ROWS), skipped=faults)
    assert (left_out.skipped_note() or "").splitlines() == [
        "a.tsv: 5 of 8 rows are left out.",
        "  a.tsv, line 1: it is wrong.",
        "  a.tsv, line 4: it is wrong.",
        "  a.tsv, line 5: it is wrong.",
        "  and 2 more.",
    ]
    three = dataclasses.replace(left_out, skipped=faults[:3])
    assert (three.skipped_note() or "").count("\n") == 3
    assert "more" not in (three.skipped_note() or "")
    assert Table.from_rows("a.tsv", ROWS).skipped_note() is None
