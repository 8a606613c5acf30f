import json

import h5py
import pytest

from kerazoo.training.pretrain_config import PretrainConfig
from kerazoo.training.run_folder import defaults_of, read_result, write_run


class Task:
    def save_to_preset(self, folder):
        with open(f"{folder}/config.json", "w") as file:
            file.write("{}")
        h5py.File(f"{folder}/model.weights.h5", "w").close()


def test_preset_metrics_and_settings_lie_in_the_folder(tmp_path):
    config = PretrainConfig(steps=3)
    write_run(Task(), {"accuracy": 0.5, "preset": "模型"}, config, tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "config.json",
        "metrics.json",
        "model.weights.h5",
        "training_config.json",
    ]
    text = (tmp_path / "metrics.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"accuracy": 0.5, "preset": "模型"}
    assert "模型" in text
    assert PretrainConfig.from_file(tmp_path / "training_config.json") == config
    assert read_result(tmp_path).metrics == {"accuracy": 0.5, "preset": "模型"}
    (tmp_path / "model.weights.h5").unlink()
    with pytest.raises(FileNotFoundError, match="no model.weights.h5 in"):
        read_result(tmp_path)


def test_defaults_are_those_of_the_settings():
    assert defaults_of(PretrainConfig(steps=3, seed=8))["seed"] == 0
