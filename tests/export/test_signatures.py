import pytest
import tensorflow as tf

from kerazoo.export.signatures import read_meta_graph, read_signatures


def test_names_types_and_shapes_are_read_without_loading(text_classifier_dir):
    signatures = read_signatures(text_classifier_dir)
    assert list(signatures) == ["features", "serving_default"]
    assert signatures["serving_default"].to_dict() == {
        "name": "serving_default",
        "inputs": {"text": {"dtype": "string", "shape": [None]}},
        "outputs": {
            "label": {"dtype": "string", "shape": [None]},
            "probabilities": {"dtype": "float32", "shape": [None, 3]},
        },
    }
    assert str(signatures["features"]) == (
        "features: token_ids: (batch, 7) int32 -> pooled_output: (batch, 40) float32; "
        "sequence_output: (batch, 7, 40) float32"
    )


def test_ragged_scalar_and_unknown_outputs_are_told_apart(save_model):
    def serve(text):
        words = tf.strings.split(text)
        unknown = tf.reshape(text, tf.concat([[-1], tf.ones([tf.size(text)], tf.int32)], 0))
        return {"words": words, "count": tf.size(text), "unknown": unknown}

    signature = read_signatures(save_model(serve, tf.TensorSpec([None], tf.string, "text")))
    outputs = signature["serving_default"].outputs
    assert not outputs["words"].is_dense
    assert outputs["words"].dtype == "ragged or sparse"
    assert outputs["count"].shape == ()
    assert outputs["unknown"].is_dense and outputs["unknown"].shape is None
    assert str(outputs["unknown"]) == "unknown: (unknown rank) string"


def test_a_folder_without_a_model_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no saved_model.pb, so it is not a SavedModel"):
        read_signatures(tmp_path)


def test_a_damaged_file_is_said(copy_of_text_classifier):
    file = copy_of_text_classifier / "saved_model.pb"
    file.write_bytes(file.read_bytes()[:1000])
    with pytest.raises(ValueError, match=r"damaged or cut short.*Received: file="):
        read_meta_graph(copy_of_text_classifier)


def test_a_graph_for_another_use_is_said(copy_of_text_classifier, edit_saved_model):
    edit_saved_model(
        copy_of_text_classifier, lambda graph: graph.meta_info_def.tags.append("train")
    )
    with pytest.raises(ValueError, match=r"one tag 'serve'.*tags=\[\['serve', 'train'\]\]"):
        read_meta_graph(copy_of_text_classifier)
