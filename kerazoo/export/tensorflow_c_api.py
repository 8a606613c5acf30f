"""Load and run a SavedModel through TensorFlow's C API alone; run as a program of its own.

A model server loads a model with the C++ function ``LoadSavedModel`` and answers requests with
``Session::Run``. The shared library in TensorFlow's wheel offers both as C functions, so a process
that never imports the ``tensorflow`` package has the server's loader, the server's core kernels, no
Python kernels, and of TensorFlow Text what is loaded from its wheel. XLA is switched off as the
server's own main function does.

The program reads one JSON request a line from standard input and writes one JSON answer a line to
standard output. It imports nothing but the standard library.

    {"load": {"tensorflow": DIR, "op_libraries": [FILE], "saved_model": DIR, "tags": ["serve"]}}
    {"run": {"feeds": [{"tensor": NAME, "dtype": TYPE, "shape": [SIZE], "data": DATA}],
             "fetches": [NAME]}}

TYPE is the number of the ``DataType`` enum; DATA is the tensor's bytes in base64, or a list of
base64 values for strings. Answers are ``{"tensorflow_version": TEXT}``, ``{"outputs": [OUTPUT]}``,
an output having "dtype", "shape" and "data", or ``{"error": {"kind": KIND, "message": TEXT}}``, the
kind being "model" or "library".
"""

import base64
import ctypes
import json
import math
import os
import sys
from typing import Any

FRAMEWORK_LIBRARY = "libtensorflow_framework.so.2"
RUNTIME_LIBRARY = "libtensorflow_cc.so.2"
STRING = 7  # DT_STRING
STRING_BYTES = 24  # sizeof(TF_TString)
_POINTER, _TEXT, _INT, _SIZE = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t


class Output(ctypes.Structure):
    """``TF_Output``: one output of an operation."""

    _fields_ = [("operation", _POINTER), ("index", _INT)]


class TensorFlowError(RuntimeError):
    """What TensorFlow said when it refused to load or to run a model."""


class LibraryError(RuntimeError):
    """A shared library that cannot be used; the model has no part in it."""


# The result type and the argument types of each C function used here (tensorflow/c/c_api.h).
_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "TF_Version": (_TEXT, []),
    "TF_NewStatus": (_POINTER, []),
    "TF_GetCode": (_INT, [_POINTER]),
    "TF_Message": (_TEXT, [_POINTER]),
    "TF_DeleteStatus": (None, [_POINTER]),
    "TF_LoadLibrary": (_POINTER, [_TEXT, _POINTER]),
    "TF_NewGraph": (_POINTER, []),
    "TF_NewSessionOptions": (_POINTER, []),
    "TF_NewBuffer": (_POINTER, []),
    "TF_LoadSessionFromSavedModel": (
        _POINTER,
        [_POINTER, _POINTER, _TEXT, ctypes.POINTER(_TEXT), _INT, _POINTER, _POINTER, _POINTER],
    ),
    "TF_GraphOperationByName": (_POINTER, [_POINTER, _TEXT]),
    "TF_AllocateTensor": (_POINTER, [_INT, ctypes.POINTER(ctypes.c_int64), _INT, _SIZE]),
    "TF_DeleteTensor": (None, [_POINTER]),
    "TF_TensorData": (_POINTER, [_POINTER]),
    "TF_TensorType": (_INT, [_POINTER]),
    "TF_NumDims": (_INT, [_POINTER]),
    "TF_Dim": (ctypes.c_int64, [_POINTER, _INT]),
    "TF_TensorByteSize": (_SIZE, [_POINTER]),
    "TF_SessionRun": (
        None,
        [_POINTER, _POINTER, ctypes.POINTER(Output), ctypes.POINTER(_POINTER), _INT]
        + [ctypes.POINTER(Output), ctypes.POINTER(_POINTER), _INT]
        + [ctypes.POINTER(_POINTER), _INT, _POINTER, _POINTER],
    ),
    "TF_StringInit": (None, [_POINTER]),
    "TF_StringCopy": (None, [_POINTER, _TEXT, _SIZE]),
    "TF_StringGetDataPointer": (_POINTER, [_POINTER]),
    "TF_StringGetSize": (_SIZE, [_POINTER]),
    "_ZN10tensorflow21DisableXlaCompilationEv": (None, []),
}


def _load_functions(tensorflow: str) -> dict[str, Any]:
    """Loads the two libraries of a ``tensorflow`` package and returns the C functions by name."""
    functions: dict[str, Any] = {}
    try:
        ctypes.CDLL(os.path.join(tensorflow, FRAMEWORK_LIBRARY), mode=ctypes.RTLD_GLOBAL)
        library = ctypes.CDLL(os.path.join(tensorflow, RUNTIME_LIBRARY), mode=ctypes.RTLD_GLOBAL)
        for name, (result, arguments) in _FUNCTIONS.items():
            functions[name] = getattr(library, name)
            functions[name].restype, functions[name].argtypes = result, arguments
    except (OSError, AttributeError) as error:
        raise LibraryError(str(error)) from error
    return functions


class Session:
    """A SavedModel, loaded as a model server loads it."""

    def __init__(
        self, tensorflow: str, op_libraries: list[str], saved_model: str, tags: list[str]
    ) -> None:
        """Loads TensorFlow's libraries, the op libraries and the SavedModel.

        Args:
            tensorflow: The folder of the ``tensorflow`` package.
            op_libraries: Files of further ops and kernels.
            saved_model: The version folder.
            tags: The tags of the graph to load.

        Raises:
            LibraryError: If a library cannot be loaded or lacks a function used here.
            TensorFlowError: If TensorFlow refuses the model.
        """
        self.c = _load_functions(tensorflow)
        self.c["_ZN10tensorflow21DisableXlaCompilationEv"]()
        try:
            for file in op_libraries:
                self._call("TF_LoadLibrary", os.fsencode(file))
        except TensorFlowError as error:
            raise LibraryError(str(error)) from error
        self.version: str = self.c["TF_Version"]().decode()
        self.graph = self.c["TF_NewGraph"]()
        tag_array = (_TEXT * len(tags))(*[tag.encode() for tag in tags])
        options, meta_graph = self.c["TF_NewSessionOptions"](), self.c["TF_NewBuffer"]()
        self.session = self._call(
            "TF_LoadSessionFromSavedModel",
            *(
                options,
                None,
                os.fsencode(saved_model),
                tag_array,
                len(tags),
                self.graph,
                meta_graph,
            ),
        )

    def run(self, feeds: list[dict[str, Any]], fetches: list[str]) -> list[dict[str, Any]]:
        """Runs the graph once, in the form of feeds and outputs that the module describes.

        Raises:
            TensorFlowError: If the graph has no such tensor or fails.
        """
        inputs = (Output * len(feeds))(*[self._output(feed["tensor"]) for feed in feeds])
        outputs = (Output * len(fetches))(*[self._output(name) for name in fetches])
        values = (_POINTER * len(feeds))(*[self._to_tensor(feed) for feed in feeds])
        results = (_POINTER * len(fetches))()
        try:
            self._call(
                "TF_SessionRun",
                *(self.session, None, inputs, values, len(feeds)),
                *(outputs, results, len(fetches), None, 0, None),
            )
            return [self._from_tensor(tensor) for tensor in results if tensor]
        finally:
            for tensor in [*values, *results]:
                if tensor:
                    self.c["TF_DeleteTensor"](tensor)

    def _call(self, name: str, *arguments: Any) -> Any:
        """Calls a C function whose last argument is a status, and raises what the status says."""
        status = self.c["TF_NewStatus"]()
        try:
            result = self.c[name](*arguments, status)
            if self.c["TF_GetCode"](status):
                raise TensorFlowError(self.c["TF_Message"](status).decode("utf-8", "replace"))
            return result
        finally:
            self.c["TF_DeleteStatus"](status)

    def _output(self, tensor: str) -> Output:
        name, _, index = tensor.partition(":")
        operation = self.c["TF_GraphOperationByName"](self.graph, name.encode())
        if not operation:
            raise TensorFlowError(f"Tensor {tensor!r} not found in the graph.")
        return Output(operation, int(index or 0))

    def _to_tensor(self, feed: dict[str, Any]) -> int:
        shape, data = feed["shape"], feed["data"]
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        if feed["dtype"] == STRING:
            tensor = self.c["TF_AllocateTensor"](
                STRING, sizes, len(shape), STRING_BYTES * len(data)
            )
            start = self.c["TF_TensorData"](tensor)
            for position, value in enumerate(base64.b64decode(item) for item in data):
                self.c["TF_StringInit"](start + STRING_BYTES * position)
                self.c["TF_StringCopy"](start + STRING_BYTES * position, value, len(value))
            return int(tensor)
        value = base64.b64decode(data)
        tensor = self.c["TF_AllocateTensor"](feed["dtype"], sizes, len(shape), len(value))
        if value:
            ctypes.memmove(self.c["TF_TensorData"](tensor), value, len(value))
        return int(tensor)

    def _from_tensor(self, tensor: int) -> dict[str, Any]:
        dtype = self.c["TF_TensorType"](tensor)
        shape = [self.c["TF_Dim"](tensor, axis) for axis in range(self.c["TF_NumDims"](tensor))]
        start, count = self.c["TF_TensorData"](tensor), math.prod(shape)
        data: str | list[str]
        if dtype == STRING:
            places = range(start, start + STRING_BYTES * count, STRING_BYTES) if count else ()
            data = [self._string(place) for place in places]
        else:
            size = self.c["TF_TensorByteSize"](tensor)
            data = base64.b64encode(ctypes.string_at(start, size) if size else b"").decode()
        return {"dtype": dtype, "shape": shape, "data": data}

    def _string(self, place: int) -> str:
        size = self.c["TF_StringGetSize"](place)
        return base64.b64encode(
            ctypes.string_at(self.c["TF_StringGetDataPointer"](place), size)
        ).decode()


def main() -> None:
    """Answers requests from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever TensorFlow prints goes to standard error
    session: Session | None = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any]
        try:
            if "load" in request:
                session = Session(**request["load"])
                answer = {"tensorflow_version": session.version}
            elif session is not None:
                answer = {"outputs": session.run(**request["run"])}
            else:
                answer = {"error": {"kind": "model", "message": "No model was loaded."}}
        except TensorFlowError as error:
            answer = {"error": {"kind": "model", "message": str(error)}}
        except LibraryError as error:
            answer = {"error": {"kind": "library", "message": str(error)}}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
