"""Every module and everything public has a docstring, and the examples in them are right.

Modules are imported under their own names (tvmq.passes.x, not passes.x), so that nothing is registered twice.
"""

from __future__ import annotations

import doctest
import importlib
import inspect
from types import ModuleType

import pytest

from project import modules

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


def test_some_module_has_examples():
    """The test above would also pass if no example were found."""
    assert doctest.testmod(load("tvmq.config")).attempted >= 5
