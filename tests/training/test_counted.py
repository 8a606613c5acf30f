from kerazoo.training.counted import counted


def test_one_is_singular():
    assert [counted(number, "row") for number in (0, 1, 2345)] == ["0 rows", "1 row", "2,345 rows"]
