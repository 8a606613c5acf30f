import pytest
import tensorflow as tf
from tensorflow.compiler.tf2xla.python import xla

from kerazoo.export.graph_nodes import graph_nodes
from kerazoo.export.serving_ops import check_ops, needed_server, read_op_list, uses_text_ops
from kerazoo.export.signatures import read_meta_graph
from kerazoo.export.verification_report import Status

X = tf.TensorSpec([None, 5], name="x")


def read_nodes(version_dir):
    return graph_nodes(read_meta_graph(version_dir))


def by_name(nodes):
    return {check.name: check for check in check_ops(nodes)}


def rename_op(old, new):
    def change(meta_graph):
        functions = meta_graph.graph_def.library.function
        found = [node for f in functions for node in f.node_def if node.op == old]
        assert found
        found[0].op = new

    return change


def test_op_lists_are_read_without_their_comment():
    sizes = {name: len(read_op_list(name)) for name in (
        "tensorflow_core_2_20.txt", "tensorflow_text_2_20.txt", "tensorflow_text_2_12.txt"
    )}  # fmt: skip
    assert list(sizes.values()) == [1473, 38, 35]
    assert "MatMul" in read_op_list("tensorflow_core_2_20.txt")
    assert read_op_list("tensorflow_text_2_12.txt") < read_op_list("tensorflow_text_2_20.txt")


def test_a_good_text_classifier_passes(text_classifier_dir):
    nodes = read_nodes(text_classifier_dir)
    assert [check.status for check in check_ops(nodes)] == [Status.OK] * 3
    assert needed_server(nodes) == ">= 2.12"
    assert uses_text_ops(nodes)


def test_a_graph_without_text_ops_says_so(save_model):
    assert not uses_text_ops(read_nodes(save_model(lambda x: {"y": x * 2}, X)))


@pytest.mark.parametrize(
    ("function", "op"), [(tf.numpy_function, "PyFunc"), (tf.py_function, "EagerPyFunc")]
)
def test_python_ops_are_refused(save_model, function, op):
    def serve(x):
        return {"y": tf.ensure_shape(function(lambda a: a, [x], tf.float32), [None, 5])}

    checks = by_name(read_nodes(save_model(serve, X)))
    assert checks["python ops"].status is Status.FAILED
    assert f"{op} (node" in checks["python ops"].message
    assert checks["op lists"].status is Status.OK  # said once, not twice


def test_xla_ops_are_refused(save_model):
    def serve(x):
        return {"y": xla.dynamic_update_slice(x, tf.ones([1, 2]), [0, 1])}

    check = by_name(read_nodes(save_model(serve, X)))["xla"]
    assert check.status is Status.FAILED
    assert "XlaDynamicUpdateSlice" in check.message
    assert "without jit_compile=True" in check.message


def test_compiled_functions_are_refused(save_model):
    compiled = tf.function(lambda x: x * 2, jit_compile=True, autograph=False)
    check = by_name(read_nodes(save_model(lambda x: {"y": compiled(x)}, X)))["xla"]
    assert check.status is Status.FAILED
    assert "compiled with jit_compile=True: __inference_" in check.message


def test_exported_programs_of_jax_are_refused(save_model, edit_saved_model):
    version_dir = save_model(lambda x: {"y": tf.math.acosh(x)}, X)
    edit_saved_model(version_dir, rename_op("Acosh", "XlaCallModule"))
    check = by_name(read_nodes(version_dir))["xla"]
    assert check.status is Status.FAILED
    assert "Export under the TensorFlow backend" in check.message


def test_ops_that_no_image_links_are_refused(copy_of_text_classifier, edit_saved_model):
    edit_saved_model(copy_of_text_classifier, rename_op("Softmax", "TFText>SoftmaxOfTomorrow"))
    nodes = read_nodes(copy_of_text_classifier)
    check = by_name(nodes)["op lists"]
    assert check.status is Status.FAILED
    assert "No stock image links these ops: TFText>SoftmaxOfTomorrow (node" in check.message
    assert needed_server(nodes) is None


def test_ops_of_newer_images_are_a_warning(save_model):
    import tensorflow_text

    def serve(text):
        words = tf.strings.split(text)
        return {
            "first": tensorflow_text.RoundRobinTrimmer(3)
            .trim([words])[0]
            .to_tensor("", shape=[None, 3])
        }

    nodes = read_nodes(save_model(serve, tf.TensorSpec([None], tf.string, "text")))
    check = by_name(nodes)["op lists"]
    assert check.status is Status.WARNING
    assert "Only images from 2.20 link these ops: TFText>RoundRobinTrim" in check.message
    assert "truncate='waterfall'" in check.message
    assert needed_server(nodes) == ">= 2.20"


def test_a_bad_op_in_a_function_that_nothing_calls_is_only_mentioned(save_model, edit_saved_model):
    version_dir = save_model(lambda x: {"y": x * 2}, X)

    def add_function(meta_graph):
        function = meta_graph.graph_def.library.function.add()
        function.signature.name = "training_step"
        function.node_def.add(name="call", op="PyFunc")
        function.node_def.add(name="other", op="NobodyKnowsThisOp")

    edit_saved_model(version_dir, add_function)
    checks = by_name(read_nodes(version_dir))
    assert {check.status for check in checks.values()} == {Status.OK}
    assert "no signature calls holds PyFunc" in checks["python ops"].message
    assert "no signature calls holds NobodyKnowsThisOp" in checks["op lists"].message
