from kerazoo import axes


def test_keys_are_those_of_kerashub():
    assert (axes.TOKEN_IDS, axes.SEGMENT_IDS, axes.PADDING_MASK) == (
        "token_ids",
        "segment_ids",
        "padding_mask",
    )
    assert (axes.SEQUENCE_OUTPUT, axes.POOLED_OUTPUT) == ("sequence_output", "pooled_output")
