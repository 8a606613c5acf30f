from kerazoo.data.row import Row


def test_a_row_knows_its_line_and_its_values():
    line, values = Row(7, {"text": "a"})
    assert (line, values["text"]) == (7, "a")
