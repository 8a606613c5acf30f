import json
import subprocess
import sys

from kerazoo.backbones.sizes import SIZES


def test_families_sizes_and_tasks_are_listed(command):
    output = command("zoo").stdout
    for name in (*SIZES["bert"], *SIZES["gpt"]):
        assert f"\n{name} " in output
    assert "tasks: text-classification" in output
    assert "minilm_l6               6     12     384          1536       30522" in output
    assert "gpt2_xl          48     25    1600          6400       50257" in output


def test_as_json(command):
    content = json.loads(command("zoo", "--json").stdout)
    assert content["families"]["bert"]["mini"]["hidden_dim"] == 256
    assert content["families"]["gpt"]["gpt"]["normalize_first"] is False
    assert {"text-classification", "causal-lm"} <= set(content["tasks"])


def test_it_imports_no_framework():
    code = (
        "import sys; from kerazoo.cli.zoo import zoo_content; zoo_content()\n"
        "assert not {'keras', 'tensorflow', 'jax', 'torch', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
