import json
import socket
from types import SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import errors

from kerazoo.conversion import hub
from kerazoo.conversion.source import open_checkpoint

HANDLE = "hf://organisation/tiny-bert"
SMALL = ["config.json", "vocab.txt", "tokenizer_config.json"]


def files(*weights):
    return [*SMALL, "README.md", "onnx/model.onnx", ".gitattributes", *weights]


@pytest.mark.parametrize(
    ("weights", "fetched"),
    [
        (["tf_model.h5", "pytorch_model.bin", "model.safetensors"], ["model.safetensors"]),
        (["tf_model.h5", "pytorch_model.bin", "flax_model.msgpack"], ["pytorch_model.bin"]),
        (["tf_model.h5"], ["tf_model.h5"]),
        (
            [
                *("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"),
                *("model.safetensors.index.json", "pytorch_model.bin", "other-model.safetensors"),
            ],
            [
                *("model.safetensors.index.json", "model-00001-of-00002.safetensors"),
                "model-00002-of-00002.safetensors",
            ],
        ),
    ],
)
def test_only_one_form_of_the_weights_is_fetched(weights, fetched):
    assert hub.files_to_fetch(files(*weights), HANDLE) == [*SMALL, *fetched]


def test_a_kerazoo_preset_is_fetched_whole():
    names = [
        *("config.json", "metadata.json", "task.json", "tokenizer.json", "preprocessor.json"),
        *("model.weights.h5", "task.weights.h5", "assets/tokenizer/vocabulary.txt"),
    ]
    assert sorted(hub.files_to_fetch([*names, "README.md"], HANDLE)) == sorted(names)


def test_a_repository_without_weights():
    with pytest.raises(FileNotFoundError, match=f"no weights that kerazoo reads.*{HANDLE}"):
        hub.files_to_fetch(files("model.gguf"), HANDLE)


@pytest.mark.parametrize(
    "handle", ["hf://", "hf://a/b/c", "hf://a b", "hf://a/b@", "HF://a/b", "hf://a/../b/c"]
)
def test_a_bad_handle(handle):
    with pytest.raises(ValueError, match="A handle has the form.*Received: "):
        hub.download(handle)


@pytest.fixture
def remote(monkeypatch, tensors, with_prefix, make_folder):
    """A repository on the Hub, replaced by a local folder; records what was asked for."""
    vocabulary = "".join(f"{t}\n" for t in ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"])
    folder = make_folder(with_prefix(tensors), files={"vocab.txt": vocabulary})
    asked = {}

    def model_info(repository, revision=None, timeout=None):
        asked["listed"] = (repository, revision)
        names = sorted(path.name for path in folder.iterdir())
        return SimpleNamespace(siblings=[SimpleNamespace(rfilename=name) for name in names])

    def snapshot_download(repository, revision=None, allow_patterns=None):
        asked["fetched"] = (repository, revision, allow_patterns)
        return str(folder)

    monkeypatch.setattr(huggingface_hub, "model_info", model_info)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    asked["folder"] = folder
    return asked


@pytest.mark.parametrize(
    ("handle", "repository", "revision"),
    [
        (HANDLE, "organisation/tiny-bert", None),
        ("hf://bert-base-uncased", "bert-base-uncased", None),
        ("hf://a-b/c.d_e@refs/pr/1", "a-b/c.d_e", "refs/pr/1"),
    ],
)
def test_the_right_files_of_the_right_repository(remote, handle, repository, revision):
    assert hub.download(handle) == remote["folder"]
    assert remote["listed"] == (repository, revision)
    wanted = ["config.json", "vocab.txt", "model.safetensors"]
    assert remote["fetched"] == (repository, revision, wanted)


def test_a_handle_is_a_source(remote, make_model, expected, same_values, tensors):
    source = open_checkpoint(HANDLE)
    assert source.format == "huggingface"
    model = make_model()
    source.load_backbone(model)
    same_values(model.values(), expected(tensors))


def hub_error(kind):
    """An error of huggingface_hub, without the HTTP response that its constructor asks for."""
    error = kind.__new__(kind)
    error.args = ("401 Client Error\nwith many more lines",)
    error.response = error.server_message = error.request_id = None
    return error


@pytest.mark.parametrize(
    ("kind", "raised", "message"),
    [
        (errors.GatedRepoError, PermissionError, "terms to be accepted.*hf auth login"),
        (errors.RepositoryNotFoundError, FileNotFoundError, "no such model.*or it is private"),
        (errors.RevisionNotFoundError, FileNotFoundError, "no branch, tag or commit"),
    ],
)
def test_what_the_hub_refuses_is_said_in_a_sentence(monkeypatch, kind, raised, message):
    def refuse(*_, **__):
        raise hub_error(kind)

    monkeypatch.setattr(huggingface_hub, "model_info", refuse)
    with pytest.raises(raised, match=message) as error:
        hub.download(HANDLE)
    assert HANDLE in str(error.value)
    assert "\n" not in str(error.value)


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    """A computer without a network, and an empty cache of huggingface_hub."""

    def refuse(*_, **__):
        raise OSError("Network is unreachable")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def test_no_network_and_nothing_in_the_cache(no_network):
    with pytest.raises(ConnectionError, match="cannot be reached.*give a local folder") as error:
        hub.download(HANDLE)
    assert "\n" not in str(error.value)


def test_no_network_but_an_earlier_download(no_network, tensors, make_folder):
    """The layout of the cache: refs/main names the commit, snapshots/<commit> holds the files."""
    folder = make_folder(tensors)
    repository = no_network / "models--organisation--tiny-bert"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("c" * 40)
    (repository / "snapshots").mkdir()
    folder.rename(repository / "snapshots" / ("c" * 40))
    found = hub.download(HANDLE)
    assert found == repository / "snapshots" / ("c" * 40)
    assert json.loads((found / "config.json").read_text())["model_type"] == "bert"
    (found / "model.safetensors").unlink()
    with pytest.raises(ConnectionError, match="not in the cache"):
        hub.download(HANDLE)
