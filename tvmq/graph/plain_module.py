"""Modules of a class of their own, such as relay.IRModule, as plain ones: `mod["main"]` is a function of Relax."""

from __future__ import annotations

from typing import Any

import tvm


def plain_module(mod: Any) -> Any:
    """The same functions in a tvm.IRModule; what is one already, and what is no module, stays as it is.

    >>> mod = tvm.IRModule()
    >>> plain_module(mod) is mod, plain_module("model.onnx")
    (True, 'model.onnx')
    """
    if type(mod) is tvm.IRModule or not isinstance(mod, tvm.IRModule):
        return mod
    return tvm.IRModule(dict(mod.functions_items()), attrs=mod.attrs)
