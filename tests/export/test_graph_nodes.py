import tensorflow as tf

from kerazoo.export.graph_nodes import graph_nodes
from kerazoo.export.signatures import read_meta_graph


def test_nodes_of_nested_functions_are_reachable(save_model):
    inner = tf.function(lambda x: tf.math.acosh(x), autograph=False)

    def serve(x):
        branch = tf.cond(tf.reduce_sum(x) > 0, lambda: inner(x), lambda: tf.math.asinh(x))
        return {"y": branch}

    nodes = graph_nodes(read_meta_graph(save_model(serve, tf.TensorSpec([None, 5], name="x"))))
    reachable = {node.op for node in nodes.reachable}
    assert {"Acosh", "Asinh", "Placeholder"} <= reachable
    place = next(node.place for node in nodes.reachable if node.op == "Acosh")
    assert place.startswith("node Acosh of function __inference_")
    place = next(node.place for node in nodes.reachable if node.op == "Placeholder")
    assert place == "serving_default_x"


def test_functions_that_nothing_calls_are_kept_apart(save_model, edit_saved_model):
    version_dir = save_model(lambda x: {"y": x * 2}, tf.TensorSpec([None, 5], name="x"))

    def add_function(meta_graph):
        function = meta_graph.graph_def.library.function.add()
        function.signature.name = "training_step"
        function.node_def.add(name="step", op="Atan2")

    edit_saved_model(version_dir, add_function)
    nodes = graph_nodes(read_meta_graph(version_dir))
    assert [node.op for node in nodes.unused] == ["Atan2"]
    assert "training_step" not in nodes.functions
    assert "Atan2" not in {node.op for node in nodes.reachable}


def test_a_node_may_call_a_function_by_its_op(save_model, edit_saved_model):
    version_dir = save_model(lambda x: {"y": x * 2}, tf.TensorSpec([None, 5], name="x"))

    def add_call(meta_graph):
        function = meta_graph.graph_def.library.function.add()
        function.signature.name = "by_name"
        function.node_def.add(name="inside", op="Atan2")
        meta_graph.graph_def.node.add(name="call", op="by_name")

    edit_saved_model(version_dir, add_call)
    nodes = graph_nodes(read_meta_graph(version_dir))
    assert "by_name" in nodes.functions
    assert "Atan2" in {node.op for node in nodes.reachable}
