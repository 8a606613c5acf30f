"""The form of each task by name."""

from kerazoo.class_table import ClassTable, class_named
from kerazoo.data.tag_schemes import BIO
from kerazoo.training.forms.base import Form

_FORMS = "kerazoo.training.forms"
FORMS: ClassTable = {
    "text-classification": (f"{_FORMS}.text_classification", "TextClassificationForm"),
    "text-similarity": (f"{_FORMS}.text_similarity", "TextSimilarityForm"),
    "multiple-choice": (f"{_FORMS}.multiple_choice", "MultipleChoiceForm"),
    "extractive-qa": (f"{_FORMS}.extractive_qa", "ExtractiveQAForm"),
    "token-classification": (f"{_FORMS}.token_classification", "TokenClassificationForm"),
    "masked-lm": (f"{_FORMS}.masked_lm", "MaskedLMForm"),
    "next-sentence": (f"{_FORMS}.next_sentence", "NextSentenceForm"),
    "bert-pretraining": (f"{_FORMS}.bert_pretraining", "BertPretrainingForm"),
    "causal-lm": (f"{_FORMS}.causal_lm", "CausalLMForm"),
}
"""Task name: module and class."""


def form_of(task_name: str, strict: bool = False, tag_scheme: str = BIO) -> Form:
    """Return the form of a task.

    Args:
        task_name: a key of `FORMS`.
        strict: bool, whether a bad row is an error where the task can leave it out.
        tag_scheme: how files mark entities, where the task has any.

    Raises:
        ValueError: for an unknown name.
    """
    form: Form = class_named("task", task_name, FORMS)()
    form.strict = strict
    form.tag_scheme = tag_scheme
    return form
