"""Every module and everything public has a docstring, and the examples in them are right.

Modules are imported under their own names (tvmq.passes.x, not passes.x), so that nothing is registered twice.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from types import ModuleType

import pytest

from tests.support.project import ROOT, modules

OPTIONAL = {"torch", "onnxruntime"}
# Module whose examples need an extra that it imports late -> what they need
EXAMPLES_NEED = {"tvmq.relay.text.parser": "lark", "tvmq.relay.text.reader": "lark"}


def load(name: str) -> ModuleType:
    """The module; the test is skipped where it needs an extra that is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name in OPTIONAL:
            pytest.skip(f"{name} needs {error.name}, which is not installed")
        raise


def public_objects(module: ModuleType) -> dict[str, object]:
    """Functions and classes that the module defines itself and does not hide by an underscore."""
    return {
        name: value
        for name, value in vars(module).items()
        if not name.startswith("_")
        and (inspect.isfunction(value) or inspect.isclass(value))
        and value.__module__ == module.__name__
    }


@pytest.mark.slow_cases(
    "tvmq.chips.emulation.emulator", "tvmq.quantization.observation", "tvmq.training.accumulator_proof", "tvmq.training.distill",
    "tvmq.training.prepare", "tvmq.chips.emulation.requantize_candidates", "tvmq.calibration.observers.minmax", "tvmq.relay.quantize.thresholds",
    "tvmq.chips.emulation.identify", "tvmq.codegen.custom_lowering.lowering", "tvmq.numerics.recurrent", "tvmq.numerics.requantize_rule",
    "tvmq.relay.op.shape_change", "tvmq.relay.vm", "tvmq.options.rules", "tvmq.numerics.spec", "tvmq.relay.expr",
    "tvmq.relay.quantize.context", "tvmq.codegen.target.cpu",
)  # fmt: skip
@pytest.mark.parametrize("name", modules())
def test_examples(name):
    if name in EXAMPLES_NEED:
        pytest.importorskip(EXAMPLES_NEED[name])
    result = doctest.testmod(load(name))
    assert result.failed == 0, f"{result.failed} of {result.attempted} examples fail; see above"


@pytest.mark.parametrize("name", modules())
def test_public_objects_have_docstrings(name):
    module = load(name)
    assert module.__doc__, f"{name}: the file begins without a docstring"
    bare = [
        f"{name}.{key}"
        for key, value in public_objects(module).items()
        # a dataclass without a docstring gets its signature as one
        if not value.__doc__ or value.__doc__.startswith(f"{key}(")
    ]
    assert not bare, f"without docstring: {', '.join(bare)}"


def docstrings(tree: ast.Module) -> list[str]:
    """Docstrings of a file, its classes and its functions."""
    places = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return [ast.get_docstring(node, clean=False) or "" for node in ast.walk(tree) if isinstance(node, places)]


def is_split(text: str) -> bool:
    """True for a text that was broken as if it were a string between quotes: a quote, a newline and a quote inside."""
    return re.search(r"""\w[.,;:]? ?(["'])[ \t]*\n\s*\1\w""", text) is not None


@pytest.mark.slow
def test_no_docstring_is_broken_between_quotes():
    folders = ("tvmq", "passes", "tests", "tools", "tutorials", "benchmarks", "docs")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 500
    broken = [
        str(path.relative_to(ROOT))
        for path in files
        if any(is_split(text) for text in docstrings(ast.parse(path.read_text(encoding="utf-8"))))
    ]
    assert not broken, f"a docstring holds a quote, a newline and a quote: {', '.join(broken)}"


@pytest.mark.parametrize("text, expected", [
    ('whatever float32 makes of "\n    "coordinates.', True), ("names may repeat '\n 'them", True),
    ('{"a": "x"}\n    "y"', False), ('says "this"\n    or "that"', False), ("'a'\n'b'", True),
])  # fmt: skip
def test_broken_docstrings_are_told(text, expected):
    assert is_split(text) == expected


def test_some_module_has_examples():
    """The test above would also pass if no example were found."""
    assert doctest.testmod(load("tvmq.options.config")).attempted >= 5
