import pytest

from kerazoo.data.prepare_settings import PrepareSettings


@pytest.mark.parametrize(
    ("objective", "row", "text"), [("bert", 128, 125), ("bert-mlm", 128, 126), ("gpt", 129, 129)]
)
def test_rows_have_room_for_special_tokens(objective, row, text):
    settings = PrepareSettings(objective=objective)
    assert (settings.row_length, settings.text_length) == (row, text)


@pytest.mark.parametrize(
    ("options", "slots"),
    [
        ({}, 0),
        ({"static_masks": 3}, 19),
        ({"static_masks": 1, "sequence_length": 5}, 1),
        ({"static_masks": 1, "mask_selection_length": 7}, 7),
        ({"mask_selection_length": 7}, 0),
    ],
)
def test_slots_are_for_static_masks(options, slots):
    assert PrepareSettings(**options).mask_slots == slots


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "t5"}, "`objective` must be one of 'bert', 'bert-mlm', 'gpt'"),
        ({"sequence_length": 4}, "room for two tokens.*Received: sequence_length=4"),
        ({"documents_per_block": 1}, "a block needs two. Received: documents_per_block=1"),
        ({"blocks_per_shard": 0}, "`blocks_per_shard` must be a number above zero"),
        ({"segmenter": "thulac"}, "`segmenter` must be one of 'none', 'jieba', 'ltp'"),
        ({"segmenter_model": "LTP/base"}, "Only the segmenter 'ltp' has a model"),
        ({"objective": "gpt", "segmenter": "jieba"}, "no words to mask.*segmenter='jieba'"),
        ({"objective": "gpt", "static_masks": 2}, "no masks.*static_masks=2"),
        ({"static_masks": -1}, "0 or more. Received: static_masks=-1"),
        ({"masking": "span"}, "`masking` must be one of"),
        ({"mask_selection_length": 0}, "`mask_selection_length` must be a number above zero"),
        ({"short_sequence_rate": 1.0}, "`short_sequence_rate` must be a number"),
    ],
)
def test_wrong_settings(options, message):
    with pytest.raises(ValueError, match=message):
        PrepareSettings(**options)


@pytest.mark.parametrize(
    "option",
    [{"masking": "ngram"}, {"mask_selection_rate": 0.2}, {"mask_selection_length": 7}],
)
def test_where_masks_are_is_not_said_of_rows_without_any(option):
    ((name, value),) = option.items()
    with pytest.raises(ValueError, match=f"hold no masks.*Received: {name}={value!r}, static_m"):
        PrepareSettings(**option).check_masks()
    PrepareSettings(**option, static_masks=1).check_masks()
    PrepareSettings().check_masks()


def test_a_language_model_may_have_blocks_of_one_document():
    assert PrepareSettings(objective="gpt", documents_per_block=1).text_length == 129


def test_packing_is_for_single_texts():
    assert PrepareSettings("gpt", packing="lines").packing == "lines"
    with pytest.raises(ValueError, match="one pair.*packing='lines' with objective='bert'"):
        PrepareSettings(packing="lines")
    with pytest.raises(ValueError, match="packing"):
        PrepareSettings("bert-mlm", packing="rows")
