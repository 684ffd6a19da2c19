"""The public surface: what `tvmq` offers, and that offering it costs next to nothing."""

from __future__ import annotations

import inspect
import subprocess
import sys
import time

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
