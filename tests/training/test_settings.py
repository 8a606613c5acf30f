import dataclasses
import json
import subprocess
import sys

import pytest

from kerazoo.training.settings import Settings


@dataclasses.dataclass(frozen=True)
class Example(Settings):
    """Settings of every type."""

    epochs: int = 3
    batch_size: int | None = None
    learning_rate: float = 1e-3
    warmup: float = 0.1
    frozen: bool = False
    pooling: str | None = None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 2.5}, "`epochs` must be a whole number. Received: epochs=2.5"),
        ({"epochs": True}, "`epochs` must be a whole number"),
        ({"epochs": None}, "`epochs` must be a whole number"),
        ({"learning_rate": "fast"}, "must be a number. Received: learning_rate='fast'"),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"warmup": float("inf")}, "warmup=inf"),
        ({"frozen": 1}, "`frozen` must be true or false"),
        ({"pooling": 7}, "`pooling` must be a string"),
    ],
)
def test_values_of_another_type_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Example(**settings)


def test_none_is_not_negative():
    Example().check_not_negative("batch_size")
    with pytest.raises(ValueError, match="`warmup` must not be negative. Received: warmup=-0.5"):
        Example(warmup=-0.5).check_not_negative("warmup")


@pytest.mark.parametrize(("warmup", "steps"), [(0.1, 5), (0, 0), (1, 1), (40, 40), (400, 57)])
def test_warmup_is_a_share_or_a_number_of_steps(warmup, steps):
    assert Example(warmup=warmup).warmup_steps(57) == steps


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "batch-size: 7\nlearning_rate: 2e-5\npooling: mean\n"),
        ("a.yml", "batch_size: 7\nlearning-rate: 0.00002\npooling: mean\n"),
        ("a.json", '{"batch_size": 7, "learning_rate": 2e-5, "pooling": "mean"}'),
    ],
)
def test_settings_come_from_files(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)
    expected = Example(batch_size=7, learning_rate=2e-5, pooling="mean")
    assert Example.from_file(file) == expected
    assert Example.from_file(file, batch_size=9).batch_size == 9


def test_what_is_written_is_read_back(tmp_path):
    example = Example(epochs=5, learning_rate=3e-5, frozen=True)
    file = tmp_path / "training_config.json"
    file.write_text(example.to_json())
    assert Example.from_file(file) == example
    assert set(json.loads(example.to_json())) == {f.name for f in dataclasses.fields(example)}


def test_an_empty_file_gives_the_defaults(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("# nothing\n")
    assert Example.from_file(file) == Example()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.yaml", "epoch: 3\n", r"a\.yaml: there is no setting `epoch`\. Did you mean `epochs`\?"),
        ("a.yaml", "colour: red\n", "no setting `colour`. Known: epochs, batch_size"),
        ("a.yaml", "epochs: many\n", r"a\.yaml: `epochs` must be a whole number"),
        ("a.yaml", "learning_rate: fast\n", "`learning_rate` must be a number"),
        ("a.yaml", "- 3\n", "settings are names and values, like `epochs: 3`. Received: list"),
        ("a.yaml", "a: [1\n", r"a\.yaml is not YAML"),
        ("a.json", "{'a': 1}", r"a\.json is not JSON"),
    ],
)
def test_wrong_files_are_named(tmp_path, name, content, message):
    file = tmp_path / name
    file.write_text(content)
    with pytest.raises(ValueError, match=message):
        Example.from_file(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no settings file .*missing.yaml"):
        Example.from_file(tmp_path / "missing.yaml")


@pytest.mark.parametrize("module", ["config", "pretrain_config"])
def test_importing_settings_imports_no_framework(module):
    code = (
        f"import sys, kerazoo.training.{module}\n"
        "heavy = {'keras', 'tensorflow', 'jax', 'torch', 'numpy', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
