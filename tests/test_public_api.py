"""The public names of `tvmq`, and the cost of importing it."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tvmq

HEAVY = ("tvm", "tvm_ffi", "onnx", "typer", "rich", "torch", "numpy")


def run_python(code: str) -> str:
    """Output of a fresh interpreter."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def test_names_are_sorted_and_have_a_place():
    assert tvmq.__all__ == sorted(tvmq.__all__)
    assert set(tvmq._PUBLIC) == set(tvmq.__all__) - {"__version__"}
    assert dir(tvmq) == tvmq.__all__


@pytest.mark.parametrize("name", tvmq.__all__)
def test_every_name_loads_and_is_documented(name):
    value = getattr(tvmq, name)
    assert name == "__version__" or inspect.getdoc(value)


def test_no_module_bears_the_name_of_a_public_function():
    """`import tvmq.quantize` as a module would put itself in the place of the function."""
    clashes = [
        name for name, target in tvmq._PUBLIC.items() if ":" in target and target.partition(":")[0] == f"tvmq.{name}"
    ]
    assert not clashes


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'tvmq' has no attribute 'quantise'"):
        tvmq.quantise  # noqa: B018
    assert not hasattr(tvmq, "quantise")


@pytest.mark.slow
def test_star_import_gives_the_public_names():
    names = run_python("from tvmq import *; print(*sorted(n for n in dir() if n[0] != '_'))")
    assert names.split() == [name for name in tvmq.__all__ if name != "__version__"]


def test_import_loads_nothing_heavy():
    loaded = run_python(f"import sys, tvmq; print(*[m for m in {HEAVY} if m in sys.modules])")
    assert loaded == ""


def test_import_is_fast():
    """Below 0.3 s more than an interpreter alone, the best of five on a machine that may be busy."""

    def seconds(code: str) -> float:
        start = time.perf_counter()
        run_python(code)
        return time.perf_counter() - start

    with_import = min(seconds("import tvmq") for _ in range(5))
    alone = min(seconds("pass") for _ in range(5))
    assert with_import - alone < 0.3


def test_configuration_needs_no_tvm():
    code = "import sys, tvmq; tvmq.qconfig(rules=[tvmq.Rule('*', None)]); print('tvm' in sys.modules)"
    assert run_python(code) == "False"


def described(name: str) -> list[str]:
    """A public name as lines: what it is, how it is called, what it offers."""
    value = getattr(tvmq, name)
    if inspect.ismodule(value):
        return [f"module {name}", *(f"    {key}" for key in sorted(vars(value)) if _is_own(value, key))]
    if inspect.isclass(value):
        members = sorted(key for key in dir(value) if not key.startswith("_") and not hasattr(object, key))
        return [f"class {name}{_signature(value)}", *(f"    {key}{_member(value, key)}" for key in members)]
    return [f"{name}{_signature(value)}"] if callable(value) else [name]


def _is_own(module: ModuleType, key: str) -> bool:
    value = vars(module)[key]
    return not key.startswith("_") and getattr(value, "__module__", "") == module.__name__


def _signature(value: Callable[..., Any]) -> str:
    """Parameters with their types and defaults, as they are written; addresses and versions differ."""
    text = str(inspect.signature(value)).replace("'", "")
    return re.sub(r" at 0x[0-9a-f]+|<factory>", "", text)


def _member(owner: type, key: str) -> str:
    value = inspect.getattr_static(owner, key)
    value = getattr(owner, key) if isinstance(value, (staticmethod, classmethod)) else value
    return _signature(value) if inspect.isroutine(value) else ""


def test_the_surface_is_as_agreed(golden):
    """A change of it is seen here: `pytest tests/test_public_api.py --update-golden`, and docs/stability.md says what
    it asks for (a line in CHANGELOG.md at least)."""
    golden("\n".join(line for name in tvmq.__all__ for line in described(name)) + "\n")


@pytest.mark.parametrize("name", tvmq.__all__)
def test_every_method_is_documented(name):
    value = getattr(tvmq, name)
    if not inspect.isclass(value):
        return
    own = [key for key in vars(value) if not key.startswith("_") and inspect.isroutine(vars(value)[key])]
    bare = [f"{name}.{key}" for key in own if not inspect.getdoc(getattr(value, key))]
    assert not bare, f"without a docstring: {bare}"


@pytest.mark.slow
def test_no_private_module_leaks():
    """After every name was used, `tvmq` shows what it did before, and nothing of its folders by accident."""
    code = """
import tvmq
for name in tvmq.__all__:
    getattr(tvmq, name)
print(*sorted(set(dir(tvmq)) ^ set(tvmq.__all__)))
"""
    assert run_python(code) == ""


def test_public_objects_come_from_where_they_are_said_to_be():
    for name, target in tvmq._PUBLIC.items():
        value = getattr(tvmq, name)
        module = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "")
        assert module == target.partition(":")[0], name


def test_type_checkers_see_the_same_names():
    """The imports under TYPE_CHECKING are those of the table."""
    tree = ast.parse(Path(tvmq.__file__).read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname or alias.name: f"{node.module}:{alias.name}"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == {n: t if ":" in t else ":".join(t.rsplit(".", 1)) for n, t in tvmq._PUBLIC.items()}
