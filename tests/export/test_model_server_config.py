import pytest
from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

from kerazoo.export.model_server_config import (
    ServedModel,
    batching_parameters,
    find_models,
    models_config,
    monitoring_config,
)


def test_a_server_reads_the_models_as_they_were_meant():
    models = [
        ServedModel("bbc_news", "/models/bbc_news"),
        ServedModel("reviews", '/models/the "best"', [4, 3], {"stable": 3, "canary": 4}),
    ]
    text = models_config(models)
    config = text_format.Parse(text, model_server_config_pb2.ModelServerConfig())
    first, second = config.model_config_list.config
    assert (first.name, first.base_path) == ("bbc_news", "/models/bbc_news")
    assert first.model_platform == "tensorflow"
    assert not first.HasField("model_version_policy")
    assert second.base_path == '/models/the "best"'
    assert list(second.model_version_policy.specific.versions) == [3, 4]
    assert dict(second.version_labels) == {"stable": 3, "canary": 4}


def test_models_are_found_in_a_folder(tmp_path):
    for name in ("reviews/2", "bbc_news/1", "bbc_news/3", "empty", "unfinished/unfinished-1"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "README.md").write_text("models")
    assert find_models(tmp_path) == [
        ServedModel("bbc_news", "/models/bbc_news"),
        ServedModel("reviews", "/models/reviews"),
    ]
    assert find_models(str(tmp_path), "/srv/")[0].base_path == "/srv/bbc_news"


def test_a_missing_folder_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="no folder of models.*nowhere"):
        find_models(tmp_path / "nowhere")


def test_no_models_and_two_of_one_name_are_refused():
    with pytest.raises(ValueError, match="at least one model"):
        models_config([])
    with pytest.raises(ValueError, match=r"names=\['a', 'a'\]"):
        models_config([ServedModel("a", "/models/a"), ServedModel("a", "/models/b")])


@pytest.mark.parametrize("name", ["", "a b", "a/b", "a:b", "模型"])
def test_names_must_fit_a_path(name):
    with pytest.raises(ValueError, match="stands in the request's path"):
        ServedModel(name, "/models/a")
    with pytest.raises(ValueError, match="A model's label stands"):
        ServedModel("a", "/models/a", [1], {name: 1})


def test_a_label_must_name_a_served_version():
    with pytest.raises(ValueError, match=r"version=2, versions=\[1\]"):
        ServedModel("a", "/models/a", [1], {"stable": 2})


def test_the_largest_batch_is_the_last_allowed_size():
    lines = batching_parameters(
        [1, 4, 24], batch_timeout_micros=0, num_batch_threads=2
    ).splitlines()
    assert lines == [
        "max_batch_size { value: 24 }",
        "batch_timeout_micros { value: 0 }",
        "num_batch_threads { value: 2 }",
        "max_enqueued_batches { value: 100 }",
        "allowed_batch_sizes: 1",
        "allowed_batch_sizes: 4",
        "allowed_batch_sizes: 24",
    ]


@pytest.mark.parametrize("sizes", [[], [0, 4], [4, 1], [4, 4]])
def test_batch_sizes_must_ascend(sizes):
    with pytest.raises(ValueError, match="positive and ascending"):
        batching_parameters(sizes)


@pytest.mark.parametrize(
    "faulty", [{"batch_timeout_micros": -1}, {"num_batch_threads": 0}, {"max_enqueued_batches": 0}]
)
def test_batching_numbers_must_make_sense(faulty):
    ((name, value),) = faulty.items()
    with pytest.raises(ValueError, match=f"{name}={value}"):
        batching_parameters(**faulty)


def test_metrics_are_shown_at_a_path():
    assert monitoring_config("/metrics") == (
        'prometheus_config {\n  enable: true\n  path: "/metrics"\n}\n'
    )
    with pytest.raises(ValueError, match="must begin with '/'"):
        monitoring_config("metrics")
