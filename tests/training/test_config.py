import dataclasses
import json
import subprocess
import sys

import pytest

from kerazoo.training.config import FinetuneConfig


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epochs": 0}, "`epochs` must be a number above zero. Received: epochs=0"),
        ({"batch_size": 0}, "`batch_size` must be a number above zero"),
        ({"batch_size": 2.5}, "`batch_size` must be a whole number. Received: batch_size=2.5"),
        ({"epochs": True}, "`epochs` must be a whole number"),
        ({"learning_rate": -1e-5}, "learning_rate"),
        (
            {"learning_rate": "fast"},
            "`learning_rate` must be a number. Received: learning_rate='fast'",
        ),
        ({"learning_rate": float("nan")}, "learning_rate=nan"),
        ({"weight_decay": float("inf")}, "weight_decay=inf"),
        ({"weight_decay": -0.1}, "`weight_decay` must not be negative"),
        ({"precision": "float16"}, "'float32', 'mixed_bfloat16'"),
        ({"class_weight": "even"}, "'balanced'"),
        ({"pooling": "max"}, "'mean'"),
        ({"validation_fraction": 1.0}, "validation_fraction"),
        ({"freeze_backbone": 1}, "`freeze_backbone` must be true or false"),
        ({"freeze_backbone": True, "lora_rank": 4}, "exclude each other"),
    ],
)
def test_unfit_values_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        FinetuneConfig(**settings)


def test_the_rate_depends_on_what_trains_unless_it_is_given():
    assert FinetuneConfig().peak_learning_rate == 5e-5
    assert FinetuneConfig(lora_rank=4).peak_learning_rate == 5e-4
    assert FinetuneConfig(freeze_backbone=True).peak_learning_rate == 1e-3
    assert FinetuneConfig(freeze_backbone=True, learning_rate=2e-5).peak_learning_rate == 2e-5


def test_warmup_is_a_share_or_a_number_of_steps():
    assert FinetuneConfig(warmup=0.1).warmup_steps(57) == 5
    assert FinetuneConfig(warmup=0).warmup_steps(57) == 0
    assert FinetuneConfig(warmup=1).warmup_steps(57) == 1
    assert FinetuneConfig(warmup=40).warmup_steps(57) == 40
    assert FinetuneConfig(warmup=400).warmup_steps(57) == 57


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.yaml", "batch-size: 7\nlearning_rate: 2e-5\nclass_weight: balanced\n"),
        ("a.yml", "batch_size: 7\nlearning-rate: 0.00002\nclass_weight: balanced\n"),
        ("a.json", '{"batch_size": 7, "learning_rate": 2e-5, "class_weight": "balanced"}'),
    ],
)
def test_settings_come_from_files(tmp_path, name, content):
    file = tmp_path / name
    file.write_text(content)
    config = FinetuneConfig.from_file(file)
    assert config == FinetuneConfig(batch_size=7, learning_rate=2e-5, class_weight="balanced")
    assert FinetuneConfig.from_file(file, batch_size=9).batch_size == 9


def test_what_is_written_is_read_back(tmp_path):
    config = FinetuneConfig(epochs=5, learning_rate=3e-5, lora_rank=4, seed=11)
    file = tmp_path / "training_config.json"
    file.write_text(config.to_json())
    assert FinetuneConfig.from_file(file) == config
    assert set(json.loads(config.to_json())) == {f.name for f in dataclasses.fields(config)}


def test_an_empty_file_gives_the_defaults(tmp_path):
    file = tmp_path / "a.yaml"
    file.write_text("# nothing\n")
    assert FinetuneConfig.from_file(file) == FinetuneConfig()


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
        FinetuneConfig.from_file(file)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no settings file .*missing.yaml"):
        FinetuneConfig.from_file(tmp_path / "missing.yaml")


def test_importing_the_settings_imports_no_framework():
    code = (
        "import sys, kerazoo.training.config\n"
        "heavy = {'keras', 'tensorflow', 'jax', 'torch', 'numpy', 'yaml'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_row_length_keeps_to_the_checkpoints_limit():
    assert FinetuneConfig().row_length(512) == 256
    assert FinetuneConfig().row_length(11) == 11
    assert FinetuneConfig(sequence_length=300).row_length(512) == 300
    with pytest.raises(ValueError, match="reads at most 11 tokens .* sequence_length=12"):
        FinetuneConfig(sequence_length=12).row_length(11)
