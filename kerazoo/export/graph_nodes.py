"""Walk the nodes of a saved graph that a server can run: the graph and the functions it calls."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GraphNode:
    """One node of a saved graph.

    Attributes:
        op: The op's registered name.
        name: The node's name.
        function: The function that holds the node, ``""`` for the graph itself.
        definition: The ``NodeDef``.
    """

    op: str
    name: str
    function: str
    definition: Any

    @property
    def place(self) -> str:
        """Where the node stands, for messages."""
        return f"node {self.name} of function {self.function}" if self.function else self.name


@dataclass(frozen=True)
class GraphNodes:
    """The nodes and functions of a ``MetaGraphDef``, split by whether a server can reach them.

    The server makes a function's kernels when it is first called, so a function that no signature,
    initialiser or restore op calls (a training step that was saved along) never matters to it.

    Attributes:
        reachable: The graph's own nodes and those of every function they call.
        unused: The nodes of functions that nothing calls.
        functions: The ``FunctionDef`` of each reachable function by name.
    """

    reachable: list[GraphNode]
    unused: list[GraphNode]
    functions: dict[str, Any]


def graph_nodes(meta_graph: Any) -> GraphNodes:
    """Walks a ``MetaGraphDef`` and its function library.

    Args:
        meta_graph: The ``MetaGraphDef``, as `kerazoo.export.signatures.read_meta_graph` gives it.

    Returns:
        The nodes that a server can reach, those it cannot, and the functions of the former.
    """
    graph = meta_graph.graph_def
    library = {function.signature.name: function for function in graph.library.function}
    found = [GraphNode(node.op, node.name, "", node) for node in graph.node]
    waiting = list(found)
    called: dict[str, Any] = {}
    while waiting:
        for name in _called_functions(waiting.pop()):
            if name in library and name not in called:
                called[name] = library[name]
                inside = list(_nodes_of(library[name]))
                found += inside
                waiting += inside
    unused = [
        node
        for name, function in library.items()
        if name not in called
        for node in _nodes_of(function)
    ]
    return GraphNodes(found, unused, called)


def _nodes_of(function: Any) -> Iterator[GraphNode]:
    for node in function.node_def:
        yield GraphNode(node.op, node.name, function.signature.name, node)


def _called_functions(node: GraphNode) -> Iterator[str]:
    yield node.op  # a node may call a function by using its name as the op
    for attribute in node.definition.attr.values():
        if attribute.HasField("func"):
            yield attribute.func.name
        for function in attribute.list.func:
            yield function.name
