"""Codes of rows whose scales are made at run time, with what makes the rows, as one kernel.

    [sums -> dynamic_dequantize -> floats, element by element ->] dynamic_scale -> dynamic_quantize
    sums -> dynamic_dequantize -> floats, element by element

The floats between may be read from outside, but only behind all members: they exist when the kernel has run.

Tests: tests/codegen/kernels/elementwise/test_row_codes.py
"""

from __future__ import annotations

from tvm import relax

from tvmq.codegen.lower.patterns.float_chain import chain_behind
from tvmq.graph.sizes import is_number
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, sizes_of

SCALE, QUANTIZE, DEQUANTIZE = "tvmq.dynamic_scale", "tvmq.dynamic_quantize", "tvmq.dynamic_dequantize"


def codes_of_rows(view: View, name: str) -> list[str]:
    """A dynamic_scale along the last axis and the dynamic_quantize by it; nothing for others."""
    call = view.value[name]
    x, attrs = call.args[0], call.attrs
    if not isinstance(x, relax.Var) or dtype_of(x) != "float32" or not _has_known_rows(x):
        return []
    if (int(attrs.first), int(attrs.count)) != (rank_of(x) - 1, 1):
        return []
    for reader in view.readers[name]:
        value = view.value[reader]
        is_quantize = op_name(value) == QUANTIZE and value.args[1].same_as(view.var[name])
        if is_quantize and value.args[0].same_as(x) and int(value.attrs.largest_code) == int(attrs.largest_code):
            return [name, reader] if _are_read_behind(view, [name, reader]) else []
    return []


def floats_of_rows(view: View, name: str, owned: set[str], encoders: dict[str, list[str]]) -> list[str]:
    """A dynamic_dequantize of sums, the floats behind it, and their codes; nothing where no more than floats of sums.

    encoders  what `codes_of_rows` gives, by the variable that it reads
    """
    call, var = view.value[name], view.var[name]
    sums, x_scale, w_scale = call.args
    if not isinstance(sums, relax.Var) or dtype_of(sums) != "int32" or not isinstance(x_scale, relax.Var):
        return []
    if not is_const(w_scale) or const_value(w_scale).size not in (1, sizes_of(var)[-1]) or not _has_known_rows(var):
        return []
    if const_value(w_scale).size > 1 and const_value(w_scale).shape[-1] == 1:  # one for each row
        return []
    sizes = sizes_of(var)
    if sizes_of(sums) != sizes or sizes_of(x_scale) != (*sizes[:-1], 1):
        return []
    members = [name, *chain_behind(view, name, rank_of(var) - 1, owned)]
    if op_name(view.value[members[-1]]) == "tvmq.quantize":
        members.pop()
    encoder = encoders.get(members[-1], [])
    if encoder and _are_read_behind(view, [members[-1], *encoder]):
        return members + encoder
    return members if len(members) > 1 else []


def _has_known_rows(x: relax.Var) -> bool:
    """True where the length of a row is known at compile time."""
    return rank_of(x) > 0 and is_number(x.ty.shape[-1])


def _are_read_behind(view: View, members: list[str]) -> bool:
    """True if nothing outside of the members reads one before the last of them."""
    last = view.place[members[-1]]
    outside = {reader for name in members for reader in view.readers[name]} - set(members)
    return all(view.place[reader] > last for reader in outside)
