from kerazoo.preprocessing.masking.masker import MASKINGS as MASKERS
from kerazoo.training.config import MASKINGS, FinetuneConfig
from kerazoo.training.forms.masking_arguments import MASKING_SETTINGS, masking_arguments


def test_only_what_was_chosen_is_passed_on():
    assert masking_arguments(FinetuneConfig()) == {}
    config = FinetuneConfig(masking="ngram", segmented=False, mask_selection_rate=0.2)
    assert masking_arguments(config) == {
        "masking": "ngram",
        "segmented": False,
        "mask_selection_rate": 0.2,
    }
    assert set(MASKING_SETTINGS) <= set(FinetuneConfig.__dataclass_fields__)


def test_the_strategies_are_those_of_the_masker():
    assert MASKINGS == MASKERS
