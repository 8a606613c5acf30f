import sys

import pytest

from kerazoo.data.prepare import prepare
from kerazoo.data.prepare_settings import PrepareSettings

SMALL = PrepareSettings(sequence_length=19, documents_per_block=4, blocks_per_shard=2)


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.filterwarnings("default")
def test_beam_writes_the_same_bytes(corpus, tiny_tokenizer, tmp_path):
    pytest.importorskip("apache_beam", exc_type=ImportError)
    file = corpus(35)
    prepare([file], tiny_tokenizer, tmp_path / "local", SMALL)
    seen = []
    options = {"runner": "beam", "pipeline_options": ["--runner=DirectRunner"]}
    options["on_shard"] = lambda shard, is_kept: seen.append(shard.name)
    manifest = prepare([file], tiny_tokenizer, tmp_path / "beam", SMALL, **options)
    assert contents(tmp_path / "beam") == contents(tmp_path / "local")
    assert seen == manifest.shard_names


def test_how_to_install_it_is_said(corpus, tiny_tokenizer, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "apache_beam", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'kerazoo\[beam\]'"):
        prepare([corpus(5)], tiny_tokenizer, tmp_path / "beam", SMALL, runner="beam")
    assert not any(tmp_path.iterdir())
