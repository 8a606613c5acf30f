from kerazoo.tasks.row_error import RowError


def test_the_row_is_said_and_known():
    error = RowError(3, "the text has no mask.")
    assert isinstance(error, ValueError)
    assert str(error) == "Row 3: the text has no mask."
    assert (error.row, error.fault) == (3, "the text has no mask.")
