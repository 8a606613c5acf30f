import numpy as np
import pytest
import tensorflow as tf

from kerazoo.export.verify import verify_saved_model
from kerazoo.tasks.masked_lm_signatures import SERVED_MASKS, SERVED_TOP_K

pytestmark = pytest.mark.tensorflow

TEXTS = ["the [MASK] was very [MASK] !", "电[MASK] 好", "no mask", "[MASK] " * 30, ""]


@pytest.fixture(scope="module")
def served(masked_lm_saved_model):
    loaded = tf.saved_model.load(str(masked_lm_saved_model))

    def call(signature="serving_default", **inputs):
        outputs = loaded.signatures[signature](**{k: tf.constant(v) for k, v in inputs.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    return call


@pytest.mark.slow
def test_stock_serving_would_serve_it(masked_lm_saved_model):
    report = verify_saved_model(masked_lm_saved_model)
    assert report.ok, str(report)
    assert set(report.signatures) == {"serving_default", "features"}
    assert report.needs_server == ">= 2.12"


def test_answers_equal_fill_mask(served, tiny_masked_lm):
    outputs = served(text=TEXTS[:2])
    for row, masks in enumerate(tiny_masked_lm.fill_mask(TEXTS[:2], top_k=SERVED_TOP_K)):
        assert outputs["mask_count"][row] == len(masks)
        assert outputs["filled_text"][row].decode() == masks[0][0]["text"]
        for slot, mask in enumerate(masks):
            tokens = [token.decode() for token in outputs["tokens"][row, slot]]
            assert tokens == [candidate["token"] for candidate in mask]
            assert outputs["positions"][row, slot] == mask[0]["position"]
            np.testing.assert_allclose(
                outputs["scores"][row, slot], [c["score"] for c in mask], atol=1e-5
            )


def test_widths_are_fixed_and_odd_texts_are_answered(served):
    outputs = served(text=TEXTS)
    assert outputs["tokens"].shape == outputs["scores"].shape == (5, SERVED_MASKS, SERVED_TOP_K)
    assert outputs["positions"].shape == (5, SERVED_MASKS)
    assert outputs["mask_count"].tolist() == [2, 1, 0, 30, 0]
    assert (outputs["positions"] >= 0).sum(axis=1).tolist() == [2, 1, 0, SERVED_MASKS, 0]
    assert outputs["filled_text"][2] == b"no mask"
    assert outputs["filled_text"][3].count(b"[MASK]") == 30 - SERVED_MASKS
    assert outputs["filled_text"][4] == b""
    assert not outputs["scores"][2].any()
    nothing = served(text=np.array([], dtype="S1"))
    assert nothing["tokens"].shape == (0, SERVED_MASKS, SERVED_TOP_K)
    invalid = served(text=[b"a \xff [MASK]"])["filled_text"][0]
    assert invalid.decode("utf-8").startswith("a \ufffd")


def test_ready_ids_are_answered(served, tiny_masked_lm, tiny_vocabulary):
    features, _, _ = tiny_masked_lm.preprocessor(["a good film", "the play"], mask_seed=2)
    features = {key: features[key].numpy() for key in tiny_masked_lm.input}
    outputs = served("features", **features)
    with tiny_masked_lm.without_preprocessor():
        logits = tiny_masked_lm.predict(features, verbose=0)
    logits[..., :5] = -np.inf
    np.testing.assert_array_equal(outputs["token_ids"][..., 0], logits.argmax(-1))
    named = np.array(tiny_vocabulary)[outputs["token_ids"]]
    assert np.char.decode(outputs["tokens"].astype("S"), "utf-8").tolist() == named.tolist()
