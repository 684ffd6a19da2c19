"""Marks that TVM's own loops carry and no code generator knows, taken off.

Scatters, sorts and others of TVM keep several loops together by an attribute "pragma_scope", of which the LLVM code
generator warns on stderr each time that it meets one ("Unknown pragma pragma_scope"). It has no other effect.
"""

from __future__ import annotations

from typing import Any

import tvm
import tvm_ffi
from tvm import tirx

MARK = "pragma_scope"


def without_scopes(mod: tvm.IRModule) -> tvm.IRModule:
    """The module with such marks gone from its functions of loops; itself where there are none."""
    changed = {gvar: _unmarked(func) for gvar, func in mod.functions_items() if isinstance(func, tirx.PrimFunc)}
    changed = {gvar: func for gvar, func in changed.items() if not func.same_as(mod[gvar])}
    if not changed:
        return mod
    mod = mod.clone()
    for gvar, func in changed.items():
        mod[gvar] = func
    return mod


def _unmarked(func: tirx.PrimFunc) -> tirx.PrimFunc:
    body = tvm_ffi.structural_map(func.body, (tirx.AttrStmt, _inner))
    return func if body.same_as(func.body) else func.with_body(body)


def _inner(node: Any) -> Any:
    return node.body if str(node.attr_key) == MARK else node
