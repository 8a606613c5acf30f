from kerazoo.data.row import Row


def test_a_row_knows_its_line_and_its_values():
    row = Row(7, {"text": "a"})
    assert (row.line, row.values["text"]) == (7, "a")


def test_a_row_says_where_it_stands():
    assert Row(7, {}).where("a.tsv") == "a.tsv, line 7"
    assert Row(9, {}, "question").where("squad.json") == "squad.json, question 9"
    assert Row(2, {}, "--text number").where(None) == "--text number 2"
