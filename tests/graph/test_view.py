"""Views are made once for each module, stay up to date, and keep no module alive."""

from __future__ import annotations

import gc
import weakref

import pytest
import tvm

from tests.support.models.networks import block
from tvmq.graph.view import View

SIGNATURE = 'x: R.Tensor((2, 3), "float32")'


@pytest.fixture
def mod() -> tvm.IRModule:
    return block(SIGNATURE, "y = R.nn.relu(x)")


def test_one_view_for_a_module(mod: tvm.IRModule) -> None:
    assert View(mod) is View(mod)
    assert View(mod.clone()) is not View(mod)


def test_another_function_is_another_view(mod: tvm.IRModule) -> None:
    before = View(mod)
    mod["main"] = block(SIGNATURE, "z = R.tanh(x)")["main"]
    assert "y" in before.value and list(View(mod).value) == ["z"]


def test_a_view_goes_with_its_module(mod: tvm.IRModule) -> None:
    view = weakref.ref(View(mod))
    copy = mod.clone()
    other = weakref.ref(View(copy))
    gc.disable()  # no cycle holds it
    try:
        del copy
        assert other() is None and view() is not None
    finally:
        gc.enable()
