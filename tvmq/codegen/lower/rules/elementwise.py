"""Element-wise operators: they keep whatever layout their inputs have.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tvm import relax

from tvmq.codegen.kernels.elementwise.add import choose_add
from tvmq.codegen.kernels.elementwise.channel_prelu import PreluStep, choose_prelu
from tvmq.codegen.kernels.elementwise.multiply import choose_multiply
from tvmq.codegen.kernels.elementwise.table import choose_table
from tvmq.codegen.lower.lowerer import Lowerer, kernel_shape, picture_shape
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.epilogue import add_step, codes_step, named_alike
from tvmq.graph import ops
from tvmq.graph.view import const_value, dtype_of, is_const, make_const, op_name, rank_of, shape_of, sizes_of
from tvmq.numerics.code_type import CODES_8


def wants_nhwc(lowerer: Lowerer, chain: Chain) -> bool:
    """True if the result is a picture and the largest of its inputs (a mask or a gate is smaller) is there in NHWC.

    Where a size is dynamic inputs are as large as the result, or 1, and any of those that are as large may be the one.
    """
    inputs = [arg for arg in lowerer.view.value[chain.head].args if isinstance(arg, relax.Var)]
    if not inputs or not lowerer.is_picture(chain.result):
        return False
    if not lowerer.has_fixed_sizes(chain):
        whole = sizes_of(lowerer.view.var[chain.result])
        fits = lowerer.is_rank4(chain.result) and all(_broadcasts(sizes_of(var), whole) for var in inputs)
        return fits and any(lowerer.has_nhwc(var.name) for var in inputs if sizes_of(var) == whole)
    largest = max(int(np.prod(shape_of(arg))) for arg in inputs)
    return _broadcast_as_pictures([shape_of(arg) for arg in inputs], rank_of(lowerer.view.var[chain.result])) and any(
        lowerer.has_nhwc(arg.name) and not _one_pixel(arg) and int(np.prod(shape_of(arg))) == largest for arg in inputs
    )


def _broadcast_as_pictures(shapes: Sequence[tuple[int, ...]], rank: int) -> bool:
    """True if tensors broadcast alike as pictures; depth and rows of a volume become one axis."""
    same_rank = all(len(shape) == rank for shape in shapes)
    return same_rank and (rank < 5 or len({shape[2:4] for shape in shapes if set(shape[2:4]) != {1}}) <= 1)


def _broadcasts(sizes: Sequence[int | str], whole: Sequence[int | str]) -> bool:
    """True for sizes that are those of a result, or 1."""
    pairs = zip(sizes, whole, strict=False)
    return len(sizes) == len(whole) and all(size in (1, other) for size, other in pairs)


def _one_pixel(var: relax.Var) -> bool:
    return all(int(d) == 1 for d in list(var.ty.shape)[2:])


def nhwc_constant(expr: relax.Expr, rank: int = 4) -> relax.Expr | None:
    """A constant that broadcasts against a tensor of that rank, as one for pictures in NHWC; None if that cannot be."""
    array = const_value(expr)
    if array.size == 1:
        return make_const(array.reshape(()))
    if array.ndim > rank or (rank == 5 and set((1, 1, *array.shape)[-3:-1]) != {1}):
        return None  # the second and third last axis of a volume are one of its picture
    full = array.reshape((1,) * (rank - array.ndim) + array.shape)
    picture = full.reshape(picture_shape(full.shape))
    return make_const(np.ascontiguousarray(picture.transpose(0, 2, 3, 1)))


def same_layout(lowerer: Lowerer, chain: Chain) -> bool:
    """The operator itself, on NHWC where its input is there in NHWC."""
    if len(chain.members) > 1 or not wants_nhwc(lowerer, chain):
        return False
    call = lowerer.view.value[chain.head]
    args: list[relax.Expr] = []
    for arg in call.args:
        if isinstance(arg, relax.Var):
            args.append(lowerer.nhwc(arg.name))
        elif is_const(arg) and op_name(call) != "tvmq.simulated_quantize":
            moved = nhwc_constant(arg, rank_of(lowerer.view.var[chain.result]))
            if moved is None:
                return False
            args.append(moved)
        else:
            args.append(arg)
    if op_name(call) == "tvmq.simulated_quantize" and call.attrs.axis >= 0:
        return False
    value = relax.Call(call.op, args, call.attrs, call.ty_args)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def _rest(lowerer: Lowerer, chain: Chain, value: relax.Expr, nhwc: bool) -> None:
    """Emit a rebuilt head and a requantize behind it, in one layout."""
    var = lowerer.emit(value, chain.head)
    for name in chain.after_head():
        var = lowerer.emit(emit_requantize(lowerer, var, name, nhwc), name)
    lowerer.give(chain.result, var, nhwc=nhwc)


def emit_requantize(lowerer: Lowerer, acc: relax.Expr, name: str, nhwc: bool) -> relax.Call:
    """The tvmq.requantize of the IR applied to `acc`, its channel axis moved if `acc` is NHWC."""
    call = lowerer.view.value[name]
    attrs = call.attrs
    axis = nhwc_axis(attrs.axis, rank_of(lowerer.view.var[name])) if nhwc else attrs.axis
    names = ("zero_point", "mode", "rounding", "dtype", "qmin", "qmax", "negative_slope")
    return ops.requantize(acc, *call.args[1:], axis=axis, **{key: getattr(attrs, key) for key in names})


# axis of NCHW -> axis of NHWC
NHWC_AXIS = {0: 0, 1: 3, 2: 1, 3: 2}


def nhwc_axis(axis: int, rank: int) -> int:
    """Axis of a tensor of that rank in NHWC; -1 stays -1.

    >>> nhwc_axis(1, 3), nhwc_axis(2, 3)
    (3, 2)
    """
    if axis == rank - 1:
        return 2
    return NHWC_AXIS[axis] if axis >= 0 else axis


def add(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.add of two activations."""
    call = lowerer.view.value[chain.head]
    if not isinstance(call.args[1], relax.Var):
        return False
    nhwc = wants_nhwc(lowerer, chain)
    a, b = (lowerer.tensor(arg.name, nhwc=nhwc) for arg in call.args)
    step, _ = add_step(call, call.args[0].name)
    kernel = None
    if sizes_of(a) == sizes_of(b):
        kernel = lowerer.choose(choose_add, kernel_shape(a), step, dtype_of(a))
    if kernel is None:
        _rest(lowerer, chain, relax.Call(call.op, [a, b], call.attrs), nhwc)
        return True
    lowerer.give(chain.result, lowerer.call(kernel, [a, b], list(a.ty.shape), step.dtype, chain.result), nhwc=nhwc)
    return True


def multiply(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.multiply of two activations and its requantize."""
    call = lowerer.view.value[chain.head]
    nhwc = wants_nhwc(lowerer, chain)
    names = [arg.name for arg in call.args]
    zeros = (call.attrs.a_zero, call.attrs.b_zero)
    if not _broadcasts(sizes_of(call.args[1]), sizes_of(call.args[0])):
        names, zeros = names[::-1], zeros[::-1]
    a, b = (lowerer.tensor(name, nhwc=nhwc) for name in names)
    following = chain.after_head()
    kernel = None
    if following and _broadcasts(sizes_of(b), sizes_of(a)):
        requantize = lowerer.view.value[following[0]]
        step = codes_step(requantize, 1 if const_value(requantize.args[1]).size == 1 else 0)
        dtypes = (dtype_of(a), dtype_of(b))
        kernel = lowerer.choose(choose_multiply, kernel_shape(a), kernel_shape(b), step, zeros, dtypes)
    if kernel is None:
        args = [lowerer.tensor(arg.name, nhwc=nhwc) for arg in call.args]
        _rest(lowerer, chain, relax.Call(call.op, args, call.attrs), nhwc)
        return True
    lowerer.give(chain.result, lowerer.call(kernel, [a, b], list(a.ty.shape), step.dtype, chain.result), nhwc=nhwc)
    return True


def where(lowerer: Lowerer, chain: Chain) -> bool:
    """A choice between codes, by their bits: LLVM makes no vectors of booleans that it loads (20 times slower)."""
    call, dtype = lowerer.view.value[chain.head], dtype_of(lowerer.view.var[chain.result])
    if dtype not in CODES_8:
        return same_layout(lowerer, chain)
    nhwc = wants_nhwc(lowerer, chain)
    rank = rank_of(lowerer.view.var[chain.result])
    args = [_in_layout(lowerer, arg, rank, nhwc) for arg in call.args]
    if any(arg is None for arg in args):
        return False
    mask, a, b = args
    zero, one = (make_const(np.asarray(number, dtype)) for number in (0, 1))
    bit = lowerer.emit(relax.op.astype(mask, dtype), f"{chain.result}_bit")
    sides = []
    for side, bits in ((a, relax.op.subtract(zero, bit)), (b, relax.op.subtract(bit, one))):
        every = lowerer.emit(bits, f"{chain.result}_bits")
        sides.append(lowerer.emit(relax.op.bitwise_and(side, every), f"{chain.result}_side"))
    lowerer.give(chain.result, lowerer.emit(relax.op.bitwise_or(*sides), chain.result), nhwc=nhwc)
    return True


def _in_layout(lowerer: Lowerer, arg: relax.Expr, rank: int, nhwc: bool) -> relax.Expr | None:
    """An argument in the layout of the result, which has this rank; None for a constant that has none."""
    if isinstance(arg, relax.Var):
        return lowerer.tensor(arg.name, nhwc=nhwc)
    return nhwc_constant(arg, rank) if nhwc else arg


def prelu(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.prelu of a picture with constant slopes; all others go as they stand."""
    call, picture = lowerer.view.value[chain.head], rank_of(lowerer.view.var[chain.result])
    moved = nhwc_constant(call.args[1], picture) if is_const(call.args[1]) and wants_nhwc(lowerer, chain) else None
    if moved is None:
        return same_layout(lowerer, chain)
    x, slopes = lowerer.nhwc(call.args[0].name), const_value(moved)
    if slopes.shape[-1:] != sizes_of(x)[-1:] or slopes.size != slopes.shape[-1]:
        return same_layout(lowerer, chain)  # the kernel takes a slope for each channel: no slopes of rows or columns
    step = PreluStep(x_dtype=dtype_of(x), **named_alike(PreluStep, call))
    kernel = lowerer.choose(choose_prelu, kernel_shape(x), slopes.reshape(-1), step)
    if kernel is None:
        return same_layout(lowerer, chain)
    lowerer.give_nhwc(chain.result, lowerer.call(kernel, [x], list(x.ty.shape), step.dtype, chain.result))
    return True


def table(lowerer: Lowerer, chain: Chain) -> bool:
    """A 256-entry lookup."""
    call = lowerer.view.value[chain.head]
    nhwc = wants_nhwc(lowerer, chain)
    x = lowerer.tensor(call.args[0].name, nhwc=nhwc)
    values = const_value(call.args[1])
    kernel = lowerer.choose(choose_table, kernel_shape(x), dtype_of(x), values)
    if kernel is None:
        _rest(lowerer, chain, relax.Call(call.op, [x, call.args[1]], call.attrs), nhwc)
        return True
    lowerer.give(chain.result, lowerer.call(kernel, [x], list(x.ty.shape), str(values.dtype), chain.result), nhwc=nhwc)
    return True
