"""Integer core of a realized module: where it begins and ends.

    prefix   what makes codes of the inputs: quantize, casts, and what moves values before them
    core     everything else
    suffix   what makes results of the core's codes, and feeds nothing else: dequantize, and the floats behind it

Integer inputs (token ids) belong to the core as they are. A float that the core reads as well is a result of the
prefix, or an input that passes unchanged.

Tests: tests/relay/quantize/test_quantize.py
"""

from __future__ import annotations

from dataclasses import dataclass

import tvm
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import MOVE
from tvmq.graph.view import View, op_name, used_vars

MOVES = where(kind=MOVE)
ENTRANCES = ("tvmq.quantize", "astype")


@dataclass(frozen=True)
class Regions:
    """Names of variables, in the order of the module.

    prefix, core, suffix   bindings
    entries                what the core reads: results of the prefix, and parameters
    exits                  what the suffix reads or returns: results of the core, and entries that nothing computes on
    """

    prefix: tuple[str, ...]
    core: tuple[str, ...]
    suffix: tuple[str, ...]
    entries: tuple[str, ...]
    exits: tuple[str, ...]


def regions(view: View) -> Regions:
    """The three regions of a realized module."""
    prefix = _prefix(view)
    suffix = _suffix(view, prefix)
    core = [var.name for var, _ in view.bindings if var.name not in prefix and var.name not in suffix]
    exits = _read_by(view, suffix, [*core, *view.params, *prefix], results=True)
    read = _read_by(view, set(core), [*view.params, *prefix], results=False)
    passed = [name for name in exits if name not in core]
    entries = [name for name in (*view.params, *_in_order(view, prefix)) if name in read or name in passed]
    return Regions(
        _in_order(view, prefix), tuple(core), _in_order(view, suffix), tuple(entries), tuple(dict.fromkeys(exits))
    )


def element_types(expr: relax.Expr) -> tuple[str, ...]:
    """Element types of a tensor, of all tensors of a tuple; nothing for shapes and numbers."""
    fields = expr.ty.fields if isinstance(expr.ty, tvm.ir.TupleType) else [expr.ty]
    return tuple(str(ty.dtype) for ty in fields if isinstance(ty, relax.TensorType))


def is_float(expr: relax.Expr) -> bool:
    """True for a tensor of floats, or a tuple that has one.

    >>> [is_float(relax.Var("x", relax.TensorType([2], dtype))) for dtype in ("bfloat16", "int8")]
    [True, False]
    """
    return any("float" in dtype for dtype in element_types(expr))


def _in_order(view: View, names: set[str]) -> tuple[str, ...]:
    return tuple(var.name for var, _ in view.bindings if var.name in names)


def _read_by(view: View, readers: set[str], among: list[str], *, results: bool) -> list[str]:
    """Select from these variables those that the readers read, or, with `results`, that the module returns."""
    return [
        name
        for name in among
        if any(reader in readers for reader in view.readers[name]) or (results and view.is_output(name))
    ]


def _prefix(view: View) -> set[str]:
    """Variables that only lead from inputs to codes; floats on the way that others read stay the core's to read."""
    reached = set(view.params)
    for var, value in view.bindings:
        op = op_name(value)
        if (op in MOVES or op in ENTRANCES) and used_vars(value) and reached.issuperset(used_vars(value)):
            reached.add(var.name)
    prefix: set[str] = set()
    wanted = [name for name in reached if name in view.value and _makes_codes(view, name)]
    while wanted:
        name = wanted.pop()
        if name in view.value and name not in prefix:
            prefix.add(name)
            wanted += used_vars(view.value[name])
    return prefix


def _makes_codes(view: View, name: str) -> bool:
    """True for quantize, and for a cast of floats to integers."""
    value = view.value[name]
    return op_name(value) in ENTRANCES and is_float(value.args[0]) and not is_float(view.var[name])


def _suffix(view: View, prefix: set[str]) -> set[str]:
    """Floats that only lead from codes to results, and what is made of them."""
    suffix: set[str] = set()
    for var, value in view.bindings:
        floats = _has_floats(view, var.name) or not suffix.isdisjoint(used_vars(value))
        if floats and var.name not in prefix and not _makes_codes(view, var.name):
            suffix.add(var.name)
    while True:
        wrong = {name for name in suffix if not _is_behind(view, name, suffix)}
        if not wrong:
            return suffix
        suffix -= wrong


def _has_floats(view: View, name: str) -> bool:
    """True for what reads or gives floats, constants apart from the result."""
    return is_float(view.var[name]) or any(is_float(view.var[used]) for used in used_vars(view.value[name]))


def _is_behind(view: View, name: str, suffix: set[str]) -> bool:
    """True if all readers are of the suffix, and all that is read is of the suffix or codes that are computed."""
    if any(reader not in suffix for reader in view.readers[name]):
        return False
    read = [used for used in used_vars(view.value[name]) if used not in suffix]
    return not any(is_float(view.var[used]) or used in view.params for used in read)
