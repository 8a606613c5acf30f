from kerazoo.data.objectives import OBJECTIVES


def test_the_names_are_what_users_type():
    assert OBJECTIVES == ("bert", "bert-mlm", "gpt")
