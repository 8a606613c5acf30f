"""A tiny classifier in a folder, and rows for it."""

import pytest

from kerazoo.data.row import Row


@pytest.fixture(scope="session")
def preset(make_tiny_text_classifier, tmp_path_factory):
    """A preset with the labels bad, good and mixed."""
    folder = tmp_path_factory.mktemp("models") / "preset"
    make_tiny_text_classifier().save_to_preset(str(folder))
    return folder


@pytest.fixture(scope="session")
def pair_classifier(make_tiny_text_classifier):
    """A classifier of pairs with the labels no and yes."""
    return make_tiny_text_classifier(labels=["no", "yes"], pairs=True)


@pytest.fixture
def seven_rows():
    """Seven texts, an empty one and Chinese among them."""
    texts = [
        "the film was good",
        "dull",
        "",
        "电影好",
        "a very very very long play",
        "bad!",
        "is it?",
    ]
    return [Row(line, {"text": text}) for line, text in enumerate(texts, start=2)]
