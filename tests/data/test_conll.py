from kerazoo.data.conll import conll_sentences


def sentences(text):
    return list(conll_sentences(enumerate(text.split("\n"), start=1), "a.conll"))


def test_words_and_tags_of_any_number_of_columns():
    two, three = sentences(
        "-DOCSTART- -X- O O\n\nEU NNP I-NP B-ORG\nrejects VBZ I-VP O\n\n\n \nPeter NNP I-NP B-PER"
    )
    assert (two.line, two.words, two.tags, two.problem) == (
        3,
        ["EU", "rejects"],
        ["B-ORG", "O"],
        "",
    )
    assert (three.line, three.words, three.tags) == (8, ["Peter"], ["B-PER"])
    assert sentences("") == sentences("\n\t\n -DOCSTART-\n") == []


def test_a_new_document_ends_a_sentence():
    assert [s.words for s in sentences("a O\n-DOCSTART-\nb O\n")] == [["a"], ["b"]]


def test_tabs_let_spaces_stand_in_words():
    (found,) = sentences("New York\tB-LOC\n\u3000\tO\n小 明\tB-PER\n")
    assert found.words == ["New York", "\u3000", "小 明"]
    assert not found.problem


def test_only_spaces_and_tabs_separate():
    (found,) = sentences("10\u00a0000 B-NUM\n\u2028x   O\r"[:-1])
    assert found.words == ["10\u00a0000", "\u2028x"]


def test_words_without_tags():
    (found,) = sentences("Ada\ncame")
    assert (found.words, found.tags, found.problem) == (["Ada", "came"], [], "")


def test_ragged_columns_are_a_problem_of_their_sentence():
    good, bad, again = sentences("a X O\nb X O\n\nc X O\nd O\n\ne X O")
    assert not good.problem and not again.problem
    assert bad.problem.startswith("a.conll, line 5: this line has 2 columns, and the first")
    assert "the file 3" in bad.problem and bad.problem.endswith("Received: 'd O'")
    (empty,) = sentences("a\tO\n\tO")
    assert "line 2: the word or its tag is empty" in empty.problem
