"""kerazoo: BERT and GPT for Keras 3, from a checkpoint or a raw corpus to a served answer.

Public names are imported when they are first used, so that ``import kerazoo`` and
``kerazoo --help`` cost nothing:

    import kerazoo
    task = kerazoo.TextClassifier.from_preset("path/to/bert", labels=["bad", "good"])
"""

import importlib
import sys

__version__ = "0.1.0"

_MODULE_OF = {
    "BertBackbone": "kerazoo.backbones.bert",
    "BertConfig": "kerazoo.backbones.bert",
    "BertPretrainer": "kerazoo.tasks.bert_pretrainer",
    "BertPretrainerPreprocessor": "kerazoo.preprocessing.bert_pretrainer",
    "ByteBPETokenizer": "kerazoo.tokenizers.byte_bpe",
    "CausalLM": "kerazoo.tasks.causal_lm",
    "CausalLMPreprocessor": "kerazoo.preprocessing.causal_lm",
    "ExtractiveQA": "kerazoo.tasks.extractive_qa",
    "ExtractiveQAPreprocessor": "kerazoo.preprocessing.extractive_qa",
    "GPTBPETokenizer": "kerazoo.tokenizers.gpt_bpe",
    "GPTBackbone": "kerazoo.backbones.gpt",
    "GPTConfig": "kerazoo.backbones.gpt",
    "MaskedLM": "kerazoo.tasks.masked_lm",
    "MaskedLMPreprocessor": "kerazoo.preprocessing.masked_lm",
    "MultipleChoice": "kerazoo.tasks.multiple_choice",
    "MultipleChoicePreprocessor": "kerazoo.preprocessing.multiple_choice",
    "NextSentencePredictor": "kerazoo.tasks.next_sentence",
    "TextClassifier": "kerazoo.tasks.text_classifier",
    "TextClassifierPreprocessor": "kerazoo.preprocessing.text_classifier",
    "TextSimilarity": "kerazoo.tasks.text_similarity",
    "TextSimilarityPreprocessor": "kerazoo.preprocessing.text_similarity",
    "TokenClassifier": "kerazoo.tasks.token_classifier",
    "TokenClassifierPreprocessor": "kerazoo.preprocessing.token_classifier",
    "WordPieceTokenizer": "kerazoo.tokenizers.wordpiece",
}
_SUBPACKAGES = (
    "backbones",
    "conversion",
    "data",
    "export",
    "layers",
    "metrics",
    "preprocessing",
    "tasks",
    "tokenizers",
    "training",
)

__all__ = ["__version__", *_MODULE_OF, *_SUBPACKAGES]


def __getattr__(name: str) -> object:
    """Import a public name on first use (PEP 562)."""
    if name in _MODULE_OF:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    if name in _SUBPACKAGES:
        return importlib.import_module(f"kerazoo.{name}")
    raise AttributeError(f"module 'kerazoo' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, imported or not."""
    return sorted(__all__)


def register_classes() -> None:
    """Import every public class, so that Keras finds those which a saved model names."""
    for module in dict.fromkeys(_MODULE_OF.values()):
        importlib.import_module(module)


if "keras" in sys.modules:
    # Whoever has Keras loaded may go on to `keras.saving.load_model`.
    register_classes()
