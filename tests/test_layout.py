"""The layout of the project: mirror, direction of imports, size budget, names, docstrings.

Runs without importing Keras or TensorFlow (`make check` runs it alone): the source is parsed.
"""

import ast
import statistics
import subprocess
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "kerazoo"
TESTS = ROOT / "tests"

# Imports go from right to left only; packages on one level may import each other one way.
LEVELS = [
    {"axes", "checks", "class_table", "without_autograph"},
    {"layers", "tokenizers", "conversion", "optimizers"},
    {"backbones", "preprocessing", "metrics", "generation"},
    {"data"},
    {"tasks"},
    {"training", "export", "analysis"},
    {"cli"},
]
LEVEL_OF = {part: level for level, parts in enumerate(LEVELS) for part in parts}
# Methods that hand over to a part above their own, which they import when called.
DELEGATIONS = {("tasks/base.py", "export")}  # task.export(path)
ENTRY_POINTS = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
FORBIDDEN_NAMES = {"utils", "util", "common", "helpers", "helper", "misc"}
MAX_FILE_LINES = 400
MAX_MEDIAN_FILE_LINES = 150
MAX_FUNCTION_LINES = 60
MAX_P90_FUNCTION_LINES = 25
HEAVY_MODULES = ("keras", "keras_hub", "keras_nlp", "tensorflow", "jax", "torch", "transformers")

MODULES = sorted(PACKAGE.rglob("*.py"))
TEST_FILES = sorted(TESTS.rglob("test_*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def part_of(path: Path) -> str:
    """The first name below kerazoo: `layers` for kerazoo/layers/attention.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[str]:
    """The parts of kerazoo that a module imports, at its top or inside a function."""
    delegated = {part for file, part in DELEGATIONS if path == PACKAGE / file}
    at_the_top = imports_among(parse(path).body)
    return at_the_top | (imports_among(ast.walk(parse(path))) - delegated)


def imports_among(nodes: Iterable[ast.AST]) -> set[str]:
    parts = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        parts |= {name.split(".")[1] for name in names if name.startswith("kerazoo.")}
    return parts


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node for node in ast.walk(parse(path)) if isinstance(node, kinds)]


def definitions(path: Path) -> list[ast.ClassDef | ast.FunctionDef]:
    """The classes and functions that stand at the top level of a module."""
    return [n for n in parse(path).body if isinstance(n, (ast.ClassDef, ast.FunctionDef))]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of a function, signature included, docstring not."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


def length(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_there_is_something_to_check():
    assert len(MODULES) > 20
    assert len(TEST_FILES) > 20


@pytest.mark.parametrize(
    "module", [path for path in MODULES if not path.name.startswith("__")], ids=relative
)
def test_every_module_has_a_test_file(module):
    inside = module.relative_to(PACKAGE)
    expected = TESTS / inside.parent / f"test_{inside.name.lstrip('_')}"
    assert expected.is_file(), f"{relative(module)} has no {relative(expected)}"


@pytest.mark.parametrize("test_file", TEST_FILES, ids=relative)
def test_every_test_file_has_a_module(test_file):
    """tests/a/test_b.py tests kerazoo/a/b.py, tests/a/test_b_detail.py too."""
    inside = test_file.relative_to(TESTS)
    if inside.parts[0] == "examples" or inside.name == "test_layout.py":
        return
    tested = inside.stem.removeprefix("test_")
    modules = list((PACKAGE / inside.parent).glob("*.py"))
    stems = {path.stem for path in modules} | {path.stem.lstrip("_") for path in modules}
    matches = [stem for stem in stems if tested == stem or tested.startswith(f"{stem}_")]
    assert matches, f"{relative(test_file)} tests no module of kerazoo/{inside.parent.as_posix()}"


@pytest.mark.parametrize("module", [m for m in MODULES if m not in ENTRY_POINTS], ids=relative)
def test_imports_go_one_way(module):
    part = part_of(module)
    assert part in LEVEL_OF, f"{relative(module)}: put {part} into LEVELS of {relative(TESTS)}"
    for imported in imported_parts(module) - {part, "__version__"}:
        assert imported in LEVEL_OF, f"{relative(module)} imports kerazoo.{imported}: no such part"
        assert LEVEL_OF[imported] <= LEVEL_OF[part], (
            f"{relative(module)} imports kerazoo.{imported}, which stands on {part}, not under it"
        )


def test_preprocessing_knows_no_model():
    for module in (PACKAGE / "preprocessing").rglob("*.py"):
        assert not imported_parts(module) & {"backbones", "tasks"}, relative(module)


def test_parts_do_not_import_each_other_in_circles():
    graph: dict[str, set[str]] = {}
    for module in set(MODULES) - ENTRY_POINTS:
        graph.setdefault(part_of(module), set()).update(imported_parts(module) & set(LEVEL_OF))
    while graph:
        free = {part for part, needs in graph.items() if not (needs - {part}) & set(graph)}
        assert free, f"circular imports among {sorted(graph)}: {graph}"
        graph = {part: needs for part, needs in graph.items() if part not in free}


def test_names_say_what_is_inside():
    bad = [path for path in [*MODULES, *TEST_FILES] if path.stem in FORBIDDEN_NAMES]
    bad += [path for path in PACKAGE.rglob("*") if path.is_dir() and path.name in FORBIDDEN_NAMES]
    assert not bad, [relative(path) for path in bad]


@pytest.mark.parametrize("path", [*MODULES, *sorted(TESTS.rglob("*.py"))], ids=relative)
def test_no_file_is_over_the_limit(path):
    assert length(path) <= MAX_FILE_LINES, f"{relative(path)} has {length(path)} lines"


def test_median_file_is_short():
    lengths = [length(path) for path in MODULES if path.name != "__init__.py"]
    assert statistics.median(lengths) <= MAX_MEDIAN_FILE_LINES


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_no_function_is_over_the_limit(module):
    long = {f.name: body_lines(f) for f in functions(module) if body_lines(f) > MAX_FUNCTION_LINES}
    assert not long, f"{relative(module)}: {long}"


def test_nine_of_ten_functions_are_short():
    lengths = sorted(body_lines(f) for module in MODULES for f in functions(module))
    assert lengths[int(0.9 * len(lengths))] <= MAX_P90_FUNCTION_LINES


@pytest.mark.parametrize("module", MODULES, ids=relative)
def test_every_public_name_is_documented(module):
    assert ast.get_docstring(parse(module)), f"{relative(module)} has no docstring"
    for node in definitions(module):
        if not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{relative(module)}: {node.name} has no docstring"


def test_every_promised_name_exists():
    """`_MODULE_OF` of kerazoo/__init__.py names classes that their modules define."""
    import kerazoo

    for name, module_name in kerazoo._MODULE_OF.items():
        path = ROOT / (module_name.replace(".", "/") + ".py")
        defined = {n.name for n in definitions(path)}
        assert name in defined, f"kerazoo.{name}: {module_name} does not define it"
    assert set(kerazoo._MODULE_OF) <= set(kerazoo.__all__)
    for part in kerazoo._SUBPACKAGES:
        assert (PACKAGE / part / "__init__.py").is_file(), f"kerazoo.{part} is not a package"


@pytest.mark.parametrize(
    "code",
    [
        "import kerazoo; kerazoo.__version__; dir(kerazoo)",
        "sys.argv = ['kerazoo', '--help']; runpy.run_module('kerazoo', run_name='__main__')",
    ],
    ids=["import kerazoo", "kerazoo --help"],
)
def test_nothing_heavy_is_imported(code):
    script = (
        f"import atexit, runpy, sys\n"
        f"atexit.register(lambda: print([m for m in {HEAVY_MODULES!r} if m in sys.modules]))\n"
        f"{code}"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[]"
