"""Compare the ops of a saved graph with those that stock TensorFlow Serving links."""

from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any

from kerazoo.export.graph_nodes import GraphNode, GraphNodes
from kerazoo.export.verification_report import Check, Status

CORE_LIST = "tensorflow_core_2_20.txt"
# The oldest server whose TensorFlow Text ops are listed, and the one that added more.
OLD_SERVER, OLD_TEXT_LIST = "2.12", "tensorflow_text_2_12.txt"
NEW_SERVER, NEW_TEXT_LIST = "2.20", "tensorflow_text_2_20.txt"
# Registered by TensorFlow's Python extension only: a server has no interpreter to call.
PYTHON_OPS = frozenset({"PyFunc", "PyFuncStateless", "EagerPyFunc"})
MUST_COMPILE = "_XlaMustCompile"


@cache
def read_op_list(name: str) -> frozenset[str]:
    """Reads one of the op lists that come with the package (``ops/*.txt``), without comments."""
    text = files("kerazoo.export").joinpath("ops", name).read_text(encoding="utf-8")
    return frozenset(line for line in text.splitlines() if line and not line.startswith("#"))


def needed_server(nodes: GraphNodes) -> str | None:
    """Returns the oldest stock image that links every op of a graph.

    The lists know TensorFlow Text 2.12.1 (images 2.12.1 to 2.19.1) and 2.20.0 (images from 2.20.0),
    and the core ops of 2.20.0; older core op lists are not known to kerazoo.

    Args:
        nodes: The graph's nodes.

    Returns:
        ``">= 2.12"``, ``">= 2.20"``, or None where an op is in no stock image.
    """
    ops = {node.op for node in nodes.reachable if node.op not in nodes.functions}
    known = read_op_list(CORE_LIST)
    if ops <= known | read_op_list(OLD_TEXT_LIST):
        return f">= {OLD_SERVER}"
    if ops <= known | read_op_list(NEW_TEXT_LIST):
        return f">= {NEW_SERVER}"
    return None


def uses_text_ops(nodes: GraphNodes) -> bool:
    """Returns whether a graph needs the kernels of TensorFlow Text."""
    text_ops = read_op_list(NEW_TEXT_LIST)
    return any(node.op in text_ops for node in nodes.reachable)


def check_ops(nodes: GraphNodes) -> list[Check]:
    """Checks that a stock server can run every op of a graph.

    Args:
        nodes: The graph's nodes.

    Returns:
        Three checks: Python ops, XLA, and ops that no stock image (or only a newer one) links.
    """
    return [_check_python_ops(nodes), _check_xla(nodes), _check_linked(nodes)]


def _check_python_ops(nodes: GraphNodes) -> Check:
    python = [node for node in nodes.reachable if node.op in PYTHON_OPS]
    if python:
        message = (
            f"The graph calls Python: {_describe(python)}. A server has no Python; write the step "
            "with TensorFlow ops instead of tf.py_function or tf.numpy_function."
        )
        return Check("python ops", Status.FAILED, message)
    return Check("python ops", Status.OK, "No op calls Python." + _unused_note(nodes, PYTHON_OPS))


def _check_xla(nodes: GraphNodes) -> Check:
    ops = [node for node in nodes.reachable if node.op.startswith(("Xla", "_Xla"))]
    compiled = [name for name, function in nodes.functions.items() if _must_compile(function)]
    compiled += [node.place for node in nodes.reachable if _must_compile(node.definition)]
    faults = []
    if ops:
        faults.append(_describe(ops))
    if compiled:
        faults.append(f"compiled with jit_compile=True: {_shorten(sorted(compiled))}")
    if faults:
        message = (
            f"The graph needs XLA, which a stock server refuses: {'; '.join(faults)}. Export under "
            "the TensorFlow backend, without jit_compile=True and without keras.ops.slice_update."
        )
        return Check("xla", Status.FAILED, message)
    return Check("xla", Status.OK, "No op and no function needs XLA.")


def _must_compile(definition: Any) -> bool:
    return MUST_COMPILE in definition.attr and definition.attr[MUST_COMPILE].b


def _check_linked(nodes: GraphNodes) -> Check:
    old = read_op_list(CORE_LIST) | read_op_list(OLD_TEXT_LIST)
    new = read_op_list(NEW_TEXT_LIST)
    others = [
        node
        for node in nodes.reachable
        if node.op not in old and node.op not in nodes.functions and node.op not in PYTHON_OPS
    ]
    missing = [node for node in others if node.op not in new]
    if missing:
        message = (
            f"No stock image links these ops: {_describe(missing)}. Rewrite the step with core or "
            "TensorFlow Text ops; a server would fail at the first request, not at the load."
        )
        return Check("op lists", Status.FAILED, message)
    if others:
        message = (
            f"Only images from {NEW_SERVER} link these ops: {_describe(others)}. For older images "
            "pack the segments with truncate='waterfall'."
        )
        return Check("op lists", Status.WARNING, message)
    count = len({node.op for node in nodes.reachable} - set(nodes.functions))
    message = (
        f"All {count} kinds of op are core ops of {NEW_SERVER} or TensorFlow Text ops that images "
        f"have from {OLD_SERVER} on."
    )
    return Check("op lists", Status.OK, message + _unused_note(nodes, None))


def _unused_note(nodes: GraphNodes, ops: frozenset[str] | None) -> str:
    """Says which refused ops stand in functions that nothing calls, so that nobody wonders."""
    known = read_op_list(CORE_LIST) | read_op_list(NEW_TEXT_LIST) | PYTHON_OPS
    library = {node.function for node in nodes.unused} | set(nodes.functions)
    unused = [
        node
        for node in nodes.unused
        if (node.op in ops if ops else node.op not in known and node.op not in library)
    ]
    if not unused:
        return ""
    return f" (A saved function that no signature calls holds {_describe(unused)}; it never runs.)"


def _describe(nodes: Iterable[GraphNode]) -> str:
    places: dict[str, str] = {}
    for node in nodes:
        places.setdefault(node.op, node.place)
    return _shorten([f"{op} ({place})" for op, place in sorted(places.items())])


def _shorten(names: list[str], limit: int = 5) -> str:
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + more
