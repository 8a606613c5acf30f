"""A process that loads and runs a SavedModel as a model server does (see `tensorflow_c_api`)."""

import base64
import json
import os
import queue
import re
import signal
import subprocess
import sys
import tempfile
import threading
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
import tensorflow as tf

from kerazoo.export import tensorflow_c_api
from kerazoo.export.signatures import SERVE_TAG, Signature

STDERR_LINES = 8
# What TensorFlow writes to standard error in every process, good or bad, and stack traces.
NOISE = re.compile(r"\s*$|I\d{4} |WARNING: All log messages before|.*cuda|\s*(PC: )?@ +0x|\*\*\*")


class ModelError(RuntimeError):
    """A model that could not be loaded or run; the message is the runtime's own."""


class SessionUnavailableError(RuntimeError):
    """The C++ loader is not to be had on this machine; the message says why."""


def text_op_libraries() -> list[Path]:
    """Returns the op libraries of the installed ``tensorflow_text``, without importing it."""
    spec = find_spec("tensorflow_text")
    if spec is None or not spec.submodule_search_locations:
        return []
    folder = Path(next(iter(spec.submodule_search_locations)))
    return sorted(folder.glob("python/*/_*.so"))


class ServerSession:
    """A SavedModel in a process of its own, loaded by the C++ code of the server.

    Used as a context manager; the process ends with the block. A crash or a request that takes
    longer than the timeout raises `ModelError` and ends the process: later requests raise too.
    """

    def __init__(self, version_dir: Path, timeout: float) -> None:
        """Starts the process and loads the model.

        Args:
            version_dir: The version folder.
            timeout: Seconds that the load, and each request, may take.

        Raises:
            SessionUnavailableError: If this machine has no such library, as on macOS and Windows.
            ModelError: If the model does not load.
        """
        tensorflow = _tensorflow_folder()
        self.timeout = timeout
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._stderr: IO[str] = tempfile.TemporaryFile("w+", errors="replace")
        # -I: neither the user's PYTHON* variables nor the module's own folder matter to it.
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(tensorflow_c_api.__file__)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            text=True,
            encoding="utf-8",
            env=_environment(),
        )
        self._reader = threading.Thread(target=self._read_answers, daemon=True)
        self._reader.start()
        try:
            load = {
                "tensorflow": str(tensorflow),
                "op_libraries": [str(file) for file in text_op_libraries()],
                "saved_model": str(version_dir.resolve()),
                "tags": [SERVE_TAG],
            }
            self.tensorflow_version: str = self._ask({"load": load})["tensorflow_version"]
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        """Returns the session itself."""
        return self

    def __exit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Ends the process."""
        self.close()

    def run(self, signature: Signature, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Answers one request.

        Args:
            signature: The signature to call.
            inputs: An array for each of its inputs.

        Returns:
            An array for each of its outputs; strings as an object array of bytes.

        Raises:
            ModelError: If the model fails, or the process has ended.
        """
        feeds = [_to_feed(tensor.tensor, inputs[name]) for name, tensor in signature.inputs.items()]
        fetches = [tensor.tensor for tensor in signature.outputs.values()]
        outputs = self._ask({"run": {"feeds": feeds, "fetches": fetches}})["outputs"]
        return dict(zip(signature.outputs, map(_to_array, outputs), strict=True))

    @property
    def is_alive(self) -> bool:
        """Whether the process still runs and can be asked more."""
        return self._process.poll() is None

    def close(self) -> None:
        """Ends the process, if it still runs."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout, self._stderr):
            if pipe is not None and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # an unsent request of a process that is gone

    def _read_answers(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)
        self._answers.put(None)

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        if not self.is_alive:
            raise ModelError(f"The process had already ended. {self._end()}")
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._answers.get(timeout=self.timeout)
        except queue.Empty:
            self._process.kill()
            self._process.wait()
            raise ModelError(
                f"No answer within {self.timeout:g} seconds; if the model is only slow, verify it "
                f"with a longer timeout. {self._stderr_tail()}".rstrip()
            ) from None
        except BrokenPipeError:
            line = None
        if line is None:
            raise ModelError(self._end())
        answer: dict[str, Any] = json.loads(line)
        if "error" not in answer:
            return answer
        message = answer["error"]["message"]
        if answer["error"]["kind"] == "library":
            raise SessionUnavailableError(f"TensorFlow's C++ library cannot be used: {message}")
        raise ModelError(message)

    def _end(self) -> str:
        code = self._process.wait()
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"The process ended with {how}. {self._stderr_tail()}".rstrip()

    def _stderr_tail(self) -> str:
        self._stderr.seek(0)
        lines = [line.strip() for line in self._stderr if not NOISE.match(line)]
        return " | ".join(lines[-STDERR_LINES:])


def _tensorflow_folder() -> Path:
    spec = find_spec("tensorflow")
    if spec is None or not spec.submodule_search_locations:
        raise SessionUnavailableError("TensorFlow is not installed.")
    folder = Path(next(iter(spec.submodule_search_locations)))
    for library in (tensorflow_c_api.FRAMEWORK_LIBRARY, tensorflow_c_api.RUNTIME_LIBRARY):
        if not (folder / library).is_file():
            raise SessionUnavailableError(
                f"The TensorFlow installed here has no {library} (Linux wheels have it); "
                "verify the folder on a Linux machine before serving it."
            )
    return folder


def _environment() -> dict[str, str]:
    """The stock image is a CPU server without XLA; the caller's flags must not change that."""
    environment = {name: value for name, value in os.environ.items() if name != "TF_XLA_FLAGS"}
    return environment | {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "1"}


def _to_feed(tensor: str, array: np.ndarray) -> dict[str, Any]:
    dtype = tf.dtypes.as_dtype(array.dtype)
    data: str | list[str]
    if dtype == tf.string:
        values = [
            value.encode() if isinstance(value, str) else bytes(value) for value in array.flat
        ]
        data = [base64.b64encode(value).decode() for value in values]
    else:
        data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {
        "tensor": tensor,
        "dtype": dtype.as_datatype_enum,
        "shape": list(array.shape),
        "data": data,
    }


def _to_array(output: dict[str, Any]) -> np.ndarray:
    dtype, shape, data = tf.dtypes.as_dtype(output["dtype"]), output["shape"], output["data"]
    if dtype == tf.string:
        array = np.empty(len(data), dtype=object)
        array[:] = [base64.b64decode(value) for value in data]
        return array.reshape(shape)
    return np.frombuffer(base64.b64decode(data), dtype.as_numpy_dtype).reshape(shape)
