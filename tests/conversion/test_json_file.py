import pytest

from kerazoo.conversion.json_file import read_json_object


def test_an_object_is_read(tmp_path):
    path = tmp_path / "config.json"
    path.write_text('{"Größe": [1, null]}', encoding="utf-8")
    assert read_json_object(path) == {"Größe": [1, None]}


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file config.json in"):
        read_json_object(tmp_path / "config.json")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"a": 1,\n"b": ', "line 2: not valid JSON"),
        (b"", "line 1: not valid JSON"),
        (b"[1]", "must hold one JSON object. Received: list"),
        (b'{"a": "\xff"}', "not UTF-8"),
    ],
)
def test_a_damaged_file_is_named(tmp_path, content, message):
    path = tmp_path / "config.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_json_object(path)
    assert str(path) in str(error.value)
