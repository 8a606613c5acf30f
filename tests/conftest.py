"""What all tests share: the backend, quiet libraries, two logical CPUs, seeds, tiny models.

The backend is the environment variable KERAS_BACKEND (tensorflow unless set). Sizes are all
different and none is trivial, so that a swapped axis shows. Session fixtures are read-only: a test
that trains or changes a model takes a fresh one from the `make_…` fixture of the same name.
"""

import functools
import gc
import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

# All of these must be set before TensorFlow, JAX or PyTorch is first imported.
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"  # parity to 1e-5 holds on the CPU
# Tests compute little and compile much, often the same thing.
os.environ.setdefault("JAX_DISABLE_MOST_OPTIMIZATIONS", "1")
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax")
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1 "
    "--xla_force_host_platform_device_count=2",
)
if "PYTEST_XDIST_WORKER" in os.environ:  # one thread for each of the processes
    for variable in ("TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(variable, "1")

import keras
import pytest
import tensorflow as tf

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2
)

# A twentieth of the time went into looking for garbage among what the libraries hold for ever, and
# into shortening tracebacks that nobody sees.
gc.freeze()
gc.set_threshold(20_000, 20, 20)
tf.debugging.disable_traceback_filtering()

HAS_TRANSFORMERS = importlib.util.find_spec("transformers") is not None

# The pad token is not row 0 on purpose: nothing may assume that it is.
SPECIAL_TOKENS = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "[MASK]"]
WORDS = ["the", "a", "film", "was", "is", "good", "bad", "very", "not", "play", "great", "dull"]
PIECES = ["##s", "##ed", "##ing", "##er", "##ly"]
SYMBOLS = [".", ",", "!", "?", "'", "电", "影", "好", "差"]
TINY_VOCABULARY = SPECIAL_TOKENS + WORDS + PIECES + SYMBOLS


_compile = keras.Model.compile
_computes_eagerly = True


@functools.wraps(_compile)
def _compile_eagerly(model: keras.Model, *arguments: object, **options: object) -> None:
    """`keras.Model.compile` without graphs: tracing takes longer than what tests compute.

    A test with the mark `compiled` computes as users do.
    """
    if _computes_eagerly and options.get("jit_compile") is not True:
        options.setdefault("run_eagerly", True)
    _compile(model, *arguments, **options)


if keras.backend.backend() == "tensorflow":  # JAX compiles each operation, PyTorch none
    # In the class that defines it, as Keras asks whether a model has another one.
    next(cls for cls in keras.Model.__mro__ if "compile" in vars(cls)).compile = _compile_eagerly


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Say before any fixture is made whether the test compiles."""
    global _computes_eagerly
    _computes_eagerly = item.get_closest_marker("compiled") is None


def pytest_report_header() -> str:
    """Say which backend is tested, and whether the parity tests can run."""
    parity = (
        "with" if HAS_TRANSFORMERS else "not installed: its parity tests are left out (.ci/run)"
    )
    return f"keras {keras.__version__} on {keras.backend.backend()}; transformers: {parity}"


@pytest.hookimpl(tryfirst=True)  # before slow ones are left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests whose mark names a library or a backend that is not there."""
    if keras.backend.backend() == "jax":
        for item in items:
            if item.get_closest_marker("slow_on_jax"):
                item.add_marker("slow")
    absent = set() if HAS_TRANSFORMERS else {"transformers"}
    if keras.backend.backend() != "tensorflow":
        absent.add("tensorflow")
    left_out = [i for i in items if any(i.get_closest_marker(name) for name in absent)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def seed() -> int:
    """Seed Python, NumPy and the backend before every test."""
    keras.utils.set_random_seed(1729)
    return 1729


@pytest.fixture(autouse=True)
def float32_policy() -> Iterator[None]:
    """Undo a test's change of the global dtype policy."""
    before = keras.config.dtype_policy()
    yield
    keras.config.set_dtype_policy(before)


@pytest.fixture(scope="session")
def mirrored_strategy() -> tf.distribute.Strategy:
    """Two replicas. A second strategy of a process would count its collectives from 100 again, and
    TensorFlow would take them for the first one's.
    """
    from kerazoo.training.distribution import from_name

    return from_name("mirrored").engine


@pytest.fixture(scope="session")
def tiny_vocabulary() -> list[str]:
    """31 tokens: five specials ([PAD] is row 3), English words and pieces, four Han characters."""
    return list(TINY_VOCABULARY)


@pytest.fixture(scope="session")
def tiny_tokenizer(tiny_vocabulary: list[str]) -> "keras.layers.Layer":
    """A lower-casing WordPiece tokenizer over the tiny vocabulary."""
    from kerazoo import WordPieceTokenizer

    return WordPieceTokenizer(vocabulary=tiny_vocabulary, lowercase=True)


@pytest.fixture(scope="session")
def make_tiny_backbone(tiny_vocabulary: list[str]) -> Callable[..., keras.Model]:
    """A function that builds a fresh BertBackbone of tiny size; arguments override the size."""
    from kerazoo import BertBackbone

    def make(**overrides: object) -> keras.Model:
        keras.utils.set_random_seed(7)
        size = {
            "vocabulary_size": len(tiny_vocabulary),
            "num_layers": 2,
            "num_heads": 4,
            "hidden_dim": 20,
            "intermediate_dim": 24,
            "max_sequence_length": 11,
        }
        return BertBackbone(**(size | overrides))

    return make


@pytest.fixture(scope="session")
def tiny_backbone(make_tiny_backbone: Callable[..., keras.Model]) -> keras.Model:
    """A BertBackbone of 2 layers, 4 heads, hidden 20, feed-forward 24, 31 tokens, 11 positions."""
    return make_tiny_backbone()


@pytest.fixture(scope="session")
def tiny_bpe_tokenizer() -> "keras.layers.Layer":
    """A byte-level tokenizer: 256 bytes, 7 merges and the end token, which is row 263."""
    from kerazoo.tokenizers.byte_bpe import ByteBPETokenizer
    from kerazoo.tokenizers.byte_characters import BYTE_CHARACTERS

    merges = ["Ġ t", "h e", "Ġt he", "o o", "oo d", "Ġ g", "Ġg ood"]
    entries = [*BYTE_CHARACTERS, *(merge.replace(" ", "") for merge in merges), "<|endoftext|>"]
    return ByteBPETokenizer({entry: number for number, entry in enumerate(entries)}, merges)


@pytest.fixture(scope="session")
def make_tiny_gpt() -> Callable[..., keras.Model]:
    """A function that builds a fresh GPTBackbone of tiny size; arguments override the size."""
    from tiny_gpt import tiny_gpt

    size = {"vocabulary_size": 264, "max_sequence_length": 37, "initializer_range": 0.5}

    def make(**overrides: object) -> keras.Model:
        return tiny_gpt(**(size | overrides))

    return make


@pytest.fixture(scope="session")
def make_tiny_causal_lm(
    make_tiny_gpt: Callable[..., keras.Model], tiny_bpe_tokenizer: "keras.layers.Layer"
) -> Callable[..., keras.Model]:
    """A function that builds a fresh CausalLM; arguments go to its preprocessor."""
    from kerazoo.preprocessing.causal_lm import CausalLMPreprocessor
    from kerazoo.tasks.causal_lm import CausalLM

    def make(**arguments: object) -> keras.Model:
        arguments = {"sequence_length": 29, **arguments}
        return CausalLM(make_tiny_gpt(), CausalLMPreprocessor(tiny_bpe_tokenizer, **arguments))

    return make


@pytest.fixture(scope="session")
def tiny_causal_lm(make_tiny_causal_lm: Callable[..., keras.Model]) -> keras.Model:
    """A CausalLM over 264 tokens with random weights, rows of 29 of its 37 positions."""
    return make_tiny_causal_lm()


@pytest.fixture(scope="session")
def make_tiny_text_classifier(
    make_tiny_backbone: Callable[..., keras.Model], tiny_tokenizer: "keras.layers.Layer"
) -> Callable[..., keras.Model]:
    """A function that builds a fresh TextClassifier; further arguments go to its constructor."""
    from kerazoo import TextClassifier, TextClassifierPreprocessor

    def make(
        labels: Sequence[str] = ("bad", "good", "mixed"),
        max_sequence_length: int = 11,
        sequence_length: int = 9,
        **arguments: object,
    ) -> keras.Model:
        backbone = make_tiny_backbone(max_sequence_length=max_sequence_length)
        preprocessor = TextClassifierPreprocessor(tiny_tokenizer, sequence_length=sequence_length)
        return TextClassifier(backbone, labels=labels, preprocessor=preprocessor, **arguments)

    return make


@pytest.fixture(scope="session")
def tiny_text_classifier(make_tiny_text_classifier: Callable[..., keras.Model]) -> keras.Model:
    """A TextClassifier with labels bad, good and mixed and random weights."""
    return make_tiny_text_classifier()


@pytest.fixture(scope="session")
def tiny_saved_model(
    tiny_text_classifier: keras.Model, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The version folder of an exported `tiny_text_classifier`; copy it before changing it."""
    return Path(tiny_text_classifier.export(tmp_path_factory.mktemp("exported") / "tiny"))


@pytest.fixture(scope="session")
def make_tiny_masked_lm(
    make_tiny_backbone: Callable[..., keras.Model], tiny_tokenizer: "keras.layers.Layer"
) -> Callable[..., keras.Model]:
    """A function that builds a fresh MaskedLM; arguments go to its preprocessor."""
    from kerazoo import MaskedLM, MaskedLMPreprocessor

    def make(**arguments: object) -> keras.Model:
        arguments = {"sequence_length": 15, "mask_selection_rate": 0.3, **arguments}
        backbone = make_tiny_backbone(max_sequence_length=17, initializer_range=0.3)
        return MaskedLM(backbone, MaskedLMPreprocessor(tiny_tokenizer, **arguments))

    return make


@pytest.fixture(scope="session")
def tiny_masked_lm(make_tiny_masked_lm: Callable[..., keras.Model]) -> keras.Model:
    """A MaskedLM with random weights, rows of 15 of its 17 positions."""
    return make_tiny_masked_lm()


@pytest.fixture(scope="session")
def make_tiny_bert_pretrainer(
    make_tiny_backbone: Callable[..., keras.Model], tiny_tokenizer: "keras.layers.Layer"
) -> Callable[..., keras.Model]:
    """A function that builds a fresh BertPretrainer; arguments go to its preprocessor."""
    from kerazoo import BertPretrainer, BertPretrainerPreprocessor

    def make(**arguments: object) -> keras.Model:
        arguments = {"sequence_length": 15, "mask_selection_rate": 0.3, **arguments}
        backbone = make_tiny_backbone(max_sequence_length=17, initializer_range=0.3)
        return BertPretrainer(backbone, BertPretrainerPreprocessor(tiny_tokenizer, **arguments))

    return make


@pytest.fixture(scope="session")
def masked_lm_saved_model(
    tiny_masked_lm: keras.Model, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The version folder of an exported `tiny_masked_lm`; copy it before changing it."""
    return Path(tiny_masked_lm.export(tmp_path_factory.mktemp("exported") / "filler"))
