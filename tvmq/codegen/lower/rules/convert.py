"""Conversions at the borders of the integer core: quantize, dequantize, stand-alone requantize, transposes.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

from collections.abc import Generator

from tvm import relax

from tvmq.codegen.kernels.elementwise.convert import choose_dequantize, choose_quantize, choose_quantize_view
from tvmq.codegen.kernels.move.transpose import choose_dequantize_to_nchw, choose_quantize_to_nhwc, choose_transpose
from tvmq.codegen.lower.lowerer import Lowerer, kernel_shape
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.elementwise import emit_requantize, nhwc_axis, wants_nhwc
from tvmq.codegen.lower.strides import MOVES, contiguous_view, strided_view
from tvmq.graph import ops
from tvmq.graph.sizes import is_number
from tvmq.graph.view import const_value, dtype_of, op_name, rank_of, shape_of, sizes_of
from tvmq.graph.walk import resolve_each
from tvmq.numerics.elementary import ELEMENTARY

# Operators whose loops take a quantize behind them in
FLOAT_LOOPS = (*ELEMENTARY, "add", "subtract", "multiply", "divide", "maximum", "minimum", "clip", "nn.relu", "sqrt")


def transpose(lowerer: Lowerer, value: relax.Expr, axes: tuple[int, ...], name: str) -> relax.Expr:
    """A transposed copy."""
    shape = list(value.ty.shape)
    kernel = lowerer.choose(choose_transpose, kernel_shape(value), axes, dtype_of(value))
    if kernel is None:
        return lowerer.emit(relax.op.permute_dims(value, list(axes)), name)
    return lowerer.call(kernel, [value], [shape[axis] for axis in axes], dtype_of(value), name)


def quantize(lowerer: Lowerer, chain: Chain) -> bool:
    """Floats to codes; pictures become NHWC on the way."""
    call = lowerer.view.value[chain.head]
    attrs, source = call.attrs, call.args[0].name
    scale, zero_point = const_value(call.args[1]), const_value(call.args[2])
    fixed = lowerer.has_fixed_sizes(chain)
    picture = lowerer.is_rank4(chain.result) if fixed else _is_read_as_picture(lowerer, chain.result)
    heads = _only_products_read(lowerer, chain.result)
    if heads and zero_point.size == 1 and _from_view(lowerer, chain):
        return True
    nhwc = not heads and (picture or wants_nhwc(lowerer, chain))
    moves = nhwc and not lowerer.has_nhwc(source)
    if not moves and scale.size == zero_point.size == 1 and _ends_float_loop(lowerer, source):
        x = lowerer.tensor(source, nhwc=nhwc)
        value = lowerer.emit(relax.Call(call.op, [x, *call.args[1:]], attrs), chain.result)
        lowerer.give(chain.result, value, nhwc=nhwc)
        return True
    x = lowerer.tensor(source, nhwc=nhwc and not moves)
    shape = list(x.ty.shape)
    codes = (int(zero_point.reshape(-1)[0]), attrs.qmin, attrs.qmax, attrs.dtype)
    choose = choose_quantize_to_nhwc if moves else choose_quantize
    kernel = lowerer.choose(choose, kernel_shape(x), scale, codes) if zero_point.size == 1 else None
    if kernel is not None:
        out = [shape[axis] for axis in (0, 2, 3, 1)] if moves else shape
        value = lowerer.call(kernel, [x], out, attrs.dtype, chain.result)
    elif not nhwc or not wants_nhwc(lowerer, chain):
        return False
    else:
        axis = nhwc_axis(attrs.axis, rank_of(call))
        options = {"dtype": attrs.dtype, "qmin": attrs.qmin, "qmax": attrs.qmax}
        value = lowerer.emit(ops.quantize(lowerer.nhwc(source), *call.args[1:], axis=axis, **options), chain.result)
    lowerer.give(chain.result, value, nhwc=nhwc)
    return True


def _is_read_as_picture(lowerer: Lowerer, name: str) -> bool:
    """True for a picture of known channels that a convolution reads, with or without a border around it."""
    view = lowerer.view
    borders = [reader for reader in view.readers[name] if op_name(view.value[reader]) == "nn.pad"]
    readers = [*view.readers[name], *(reader for border in borders for reader in view.readers[border])]
    reads = any(op_name(view.value[reader]) == "nn.conv2d" for reader in readers)
    return reads and lowerer.is_rank4(name) and is_number(view.var[name].ty.shape[1])


def _from_view(lowerer: Lowerer, chain: Chain) -> bool:
    """Codes of what slices and transposes only move: read where it lies, without the copies that these would make."""
    call = lowerer.view.value[chain.head]
    attrs, source = call.attrs, call.args[0].name
    if not all(is_number(size) for size in call.args[0].ty.shape):
        return False
    layout = strided_view(lowerer.view, source, lowerer.exists)
    if layout.base == source or layout == contiguous_view(layout.base, layout.shape):
        return False
    base = lowerer.logical(layout.base)
    if not all(map(is_number, base.ty.shape)):
        return False
    codes = (int(const_value(call.args[2]).reshape(-1)[0]), attrs.qmin, attrs.qmax, attrs.dtype)
    view = layout.offset, layout.shape, layout.strides
    kernel = lowerer.choose(choose_quantize_view, shape_of(base), view, const_value(call.args[1]), codes)
    if kernel is None:
        return False
    value = lowerer.call(kernel, [base], layout.shape, attrs.dtype, chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def _ends_float_loop(lowerer: Lowerer, source: str) -> bool:
    """True for the result of an element-wise float operator that only this quantize reads: one loop computes both."""
    value = lowerer.view.value.get(source)
    if value is None or lowerer.isa.name in ("generic", "cuda") or lowerer.view.only_reader(source) is None:
        return False
    return op_name(value) in FLOAT_LOOPS and dtype_of(value) == "float32"


def _begins_float_loop(lowerer: Lowerer, name: str) -> bool:
    """True for floats of codes that only an element-wise operator reads: its loop makes them."""
    view, reader = lowerer.view, lowerer.view.only_reader(name)
    if reader is None or lowerer.isa.name in ("generic", "cuda") or view.is_output(name):
        return False
    value = view.value[reader]
    same = all(not isinstance(arg, relax.Var) or sizes_of(arg) == sizes_of(view.var[name]) for arg in value.args)
    return op_name(value) in FLOAT_LOOPS and same


def _only_products_read(lowerer: Lowerer, name: str) -> bool:
    """True for what is no picture: matrices of attention, also behind operators that move them."""
    view = lowerer.view

    def holds(name: str) -> Generator[str, bool, bool]:
        for reader in view.readers[name]:
            op = op_name(view.value[reader])
            if op not in ("matmul", "tvmq.matmul") and (op not in MOVES or not (yield reader)):
                return False
        return bool(view.readers[name])

    return resolve_each(name, holds, view.memo(_only_products_read))


def dequantize(lowerer: Lowerer, chain: Chain) -> bool:
    """Codes or sums to floats; pictures that are results become NCHW on the way."""
    view = lowerer.view
    call = view.value[chain.head]
    source, axis = call.args[0].name, int(call.attrs.axis)
    scale, zero_point = const_value(call.args[1]), const_value(call.args[2])
    nhwc = wants_nhwc(lowerer, chain)
    x = lowerer.tensor(source, nhwc=nhwc)
    if scale.size == zero_point.size == 1 and _begins_float_loop(lowerer, chain.result):
        value = lowerer.emit(relax.Call(call.op, [x, *call.args[1:]], call.attrs), chain.result)
        lowerer.give(chain.result, value, nhwc=nhwc)
        return True
    moves = nhwc and view.is_output(chain.result) and lowerer.is_rank4(chain.result)
    moves = moves and scale.size == zero_point.size == 1
    rank = rank_of(call)
    last = axis < 0 or (nhwc_axis(axis, rank) == 3 if nhwc else axis == rank - 1)
    shape, dtype = list(x.ty.shape), dtype_of(x)
    choose = choose_dequantize_to_nchw if moves else choose_dequantize
    kernel = lowerer.choose(choose, kernel_shape(x), dtype, scale, zero_point) if last else None
    if kernel is not None:
        out = [shape[a] for a in (0, 3, 1, 2)] if moves else shape
        value = lowerer.call(kernel, [x], out, "float32", chain.result)
        lowerer.give(chain.result, value, nhwc=nhwc and not moves)
        return True
    if not nhwc:
        return False
    moved = ops.dequantize(x, *call.args[1:], axis=nhwc_axis(axis, rank))
    lowerer.give_nhwc(chain.result, lowerer.emit(moved, chain.result))
    return True


def requantize(lowerer: Lowerer, chain: Chain) -> bool:
    """A requantize that no kernel has taken."""
    if not wants_nhwc(lowerer, chain):
        return False
    source = lowerer.view.value[chain.head].args[0].name
    value = emit_requantize(lowerer, lowerer.nhwc(source), chain.head, True)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True
