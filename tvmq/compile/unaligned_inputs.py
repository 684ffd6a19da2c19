"""Which inputs main can read where they are: those that only kernels read which take memory of any alignment.

TVM's functions read memory that begins at multiples of 64 bytes, NumPy's hardly ever does: inputs are copied. The
kernels that read pictures first (quantize, changes of layout) take any address, so that large inputs need no copy.
"""

from __future__ import annotations

import numpy as np
import tvm
from tvm import relax

from tvmq.compile.fused_origins import bindings
from tvmq.graph.view import dtype_of, leaves, op_name, used_vars


def unaligned_inputs(mod: tvm.IRModule, function: str = "main") -> list[int]:
    """Numbers of the inputs of main, if there is one, in a module whose operators are calls of functions of loops."""
    if all(gvar.name_hint != function for gvar in mod.get_global_vars()):
        return []
    main = mod[function]
    seen = {param.name: index for index, param in enumerate(main.params)}
    found = set(seen.values())
    for var, value in bindings(main):
        read = [seen[name] for name in used_vars(value) if name in seen]
        if read and (isinstance(value, relax.Var) or op_name(value) == "reshape"):
            seen[var.name] = read[0]
        elif read:
            found -= set(read) - _taken(mod, value, seen)
    return sorted(found - {seen[leaf.name] for leaf in leaves(main.body.body) if leaf.name in seen})


def _taken(mod: tvm.IRModule, value: relax.Expr, seen: dict[str, int]) -> set[int]:
    """Inputs that a call takes at any address."""
    if op_name(value) != "call_tir":
        return set()
    params, args = mod[value.args[0]].params, value.args[1].fields
    pairs = [(param, arg) for param, arg in zip(params, args, strict=False) if getattr(arg, "name", None) in seen]
    wrong = {seen[arg.name] for param, arg in pairs if not _any_address(param, arg)}
    return {seen[arg.name] for _, arg in pairs} - wrong


def _any_address(param: tvm.tirx.Var, arg: relax.Expr) -> bool:
    alignment = getattr(param.ty, "data_alignment", None)
    return alignment is not None and int(alignment) <= np.dtype(dtype_of(arg)).itemsize
