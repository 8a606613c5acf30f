import pytest

from kerazoo.conversion.report import LoadReport


def test_a_complete_report_says_what_was_loaded():
    report = LoadReport(loaded=("a", "b"), source="bert-folder")
    assert report.is_complete
    assert report.check_strict() is report
    assert str(report) == "2 weights loaded from bert-folder."


def test_missing_and_unused_weights_are_named():
    report = LoadReport(
        loaded=("a",), missing=("classifier/kernel", "classifier/bias"), unused=("cls.bias",)
    )
    text = str(report)
    assert "2 weights missing in the checkpoint, randomly initialised" in text
    assert "classifier/kernel, classifier/bias" in text
    assert "1 tensor of the checkpoint not used by this model: cls.bias" in text


@pytest.mark.parametrize("field", ["missing", "unused"])
def test_strict_refuses_an_incomplete_load(field):
    report = LoadReport(loaded=("a",), **{field: ("head/bias",)})
    assert not report.is_complete
    with pytest.raises(ValueError, match="do not match exactly.*head/bias") as error:
        report.check_strict()
    assert "1 weight loaded" in str(error.value)


def test_long_lists_are_cut():
    text = str(LoadReport(loaded=(), unused=tuple(f"t{number}" for number in range(15))))
    assert "t11, and 3 more." in text
    assert "t12" not in text
