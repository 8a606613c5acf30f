"""Checkpoints on the Hugging Face Hub, by handles such as `hf://google-bert/bert-base-uncased`."""

import re
from pathlib import Path
from typing import Any

from kerazoo.conversion.checkpoint_files import WEIGHT_FILE_NAMES, find_weight_file

SCHEME = "hf://"
_HANDLE = re.compile(
    r"hf://(?P<repository>(?:[\w.-]+/)?[\w.-]+)(?:@(?P<revision>[\w./-]+))?", re.ASCII
)
_SMALL_FILES = (
    *("config.json", "vocab.txt", "vocab.json", "merges.txt", "tokenizer.json"),
    *("tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"),
)
_TIMEOUT = 10.0  # seconds
_KERAS_PRESET_FILES = ("metadata.json", "task.json", "preprocessor.json", "image_converter.json")


def download(handle: str) -> Path:
    """Download what kerazoo reads of a model repository, or find it in the local cache.

    Of several weight files only one is fetched: safetensors before PyTorch's before TensorFlow's.
    Without a network, an earlier download is used.

    Args:
        handle: `hf://organisation/name`, with `@revision` (branch, tag or commit) if wanted.

    Returns:
        The folder in the cache of `huggingface_hub`.

    Raises:
        ValueError: if the handle is not of this form.
        FileNotFoundError: if the repository, the revision or its weights do not exist.
        PermissionError: if the repository is gated and its terms were not accepted.
        ConnectionError: if the Hub cannot be reached and nothing is in the cache.
    """
    repository, revision = _parse(handle)
    import huggingface_hub
    from huggingface_hub import errors

    try:
        # One request without the client's retries, which take 23 s where there is no network.
        info = huggingface_hub.model_info(repository, revision=revision, timeout=_TIMEOUT)
        wanted = files_to_fetch([file.rfilename for file in info.siblings or ()], handle)
        folder = huggingface_hub.snapshot_download(
            repository, revision=revision, allow_patterns=wanted
        )
    except errors.LocalEntryNotFoundError as error:
        return _from_cache(huggingface_hub, handle, error)
    except FileNotFoundError:
        raise
    except errors.GatedRepoError as error:
        raise PermissionError(
            "The authors of this model ask for their terms to be accepted first: do so on the "
            f"model's page, then run `hf auth login`. Received: {handle}"
        ) from error
    except errors.RevisionNotFoundError as error:
        raise FileNotFoundError(
            f"The repository has no branch, tag or commit of this name. Received: {handle}"
        ) from error
    except errors.RepositoryNotFoundError as error:
        raise FileNotFoundError(
            "There is no such model on the Hugging Face Hub, or it is private; if it is yours, "
            f"run `hf auth login`. Received: {handle}"
        ) from error
    except Exception as error:  # each HTTP library has its own errors for a lost connection
        return _from_cache(huggingface_hub, handle, error)
    return Path(folder)


def _parse(handle: str) -> tuple[str, str | None]:
    match = _HANDLE.fullmatch(handle)
    if match is None:
        raise ValueError(
            "A handle has the form hf://organisation/name or hf://organisation/name@revision. "
            f"Received: {handle!r}"
        )
    return match["repository"], match["revision"]


def files_to_fetch(names: list[str], handle: str) -> list[str]:
    """Return which files of a repository kerazoo reads, with one form of the weights only.

    Args:
        names: the paths of all files in the repository.
        handle: the repository's handle, for the error.

    Raises:
        FileNotFoundError: if the repository holds no weights that kerazoo reads.
    """
    present = set(names)
    if "metadata.json" in present and any(name.endswith(".weights.h5") for name in names):
        own = {"config.json", "tokenizer.json", *_KERAS_PRESET_FILES}
        kept = (".weights.h5", ".weights.json")
        return [n for n in names if n in own or n.endswith(kept) or n.startswith("assets/")]
    for name in WEIGHT_FILE_NAMES:
        if name in present:
            weights = [name]
            if name.endswith(".index.json"):
                stem, ending = name.removesuffix(".index.json").rsplit(".", 1)
                shard = re.compile(rf"{re.escape(stem)}-\d+-of-\d+\.{ending}")
                weights += [other for other in names if shard.fullmatch(other)]
            return [small for small in _SMALL_FILES if small in present] + weights
    raise FileNotFoundError(
        f"The repository holds no weights that kerazoo reads ({', '.join(WEIGHT_FILE_NAMES)}). "
        f"Received: {handle}"
    )


def _from_cache(huggingface_hub: Any, handle: str, error: Exception) -> Path:
    """Return the folder of an earlier download; raise ConnectionError if there is none."""
    repository, revision = _parse(handle)
    config = huggingface_hub.try_to_load_from_cache(repository, "config.json", revision=revision)
    if isinstance(config, str):
        folder = Path(config).parent
        if find_weight_file(folder) is not None or any(folder.glob("*.weights.h5")):
            return folder
    reason = str(error).strip().split("\n")[0] or type(error).__name__
    raise ConnectionError(
        f"The Hugging Face Hub cannot be reached ({reason}), and an earlier download is not in the "
        f"cache. Check the connection, or give a local folder. Received: {handle}"
    ) from error
