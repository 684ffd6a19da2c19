"""Pictures of dynamic rows, columns and number: the rules of operators that have kernels, or a layout, for any size.

Channels are known. Pictures become NHWC where a convolution reads them, and stay so as with fixed sizes.

Tests: tests/passes/test_integer_transformer.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tvm import relax

from tvmq.codegen.kernels.conv.dynamic_pictures import choose_dynamic_convolution, usual_convolution
from tvmq.codegen.kernels.conv.matmul import multiply_rows
from tvmq.codegen.kernels.elementwise.add import choose_add
from tvmq.codegen.kernels.elementwise.convert import choose_dequantize, choose_quantize
from tvmq.codegen.kernels.elementwise.table import choose_table
from tvmq.codegen.kernels.move.concat import choose_concat
from tvmq.codegen.kernels.move.transpose import choose_dequantize_to_nchw, choose_quantize_to_nhwc
from tvmq.codegen.kernels.norm.float_sum import FloatSum, choose_float_sum
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.kernels.pool import choose_max_pool
from tvmq.codegen.kernels.pool_windows import DynamicPool2d
from tvmq.codegen.lower.code_range import code_range
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.rules.conv2d import has_template, padding_of, pair
from tvmq.codegen.lower.rules.elementwise import NHWC_AXIS, nhwc_constant
from tvmq.codegen.lower.rules.epilogue import add_step, finish_of
from tvmq.codegen.lower.rules.shape import lower_dynamic_resize
from tvmq.graph.sizes import is_number, name_dynamic_sizes
from tvmq.graph.view import const_value, dtype_of, is_const, op_name, rank_of, sizes_of


def convolution(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a convolution of dynamic shape to one kernel; False for other layouts, weights, and dynamic channels."""
    view = lowerer.view
    call = view.value[chain.head]
    source, padding, pad_value = padding_of(view, chain)
    x_dtype = dtype_of(view.var[source])
    if not has_template(call, x_dtype) or not is_number(view.var[source].ty.shape[1]):
        return False
    weight = const_value(call.args[1])
    weight = weight.reshape(*weight.shape[:2], *pair(weight.shape[2:]))
    finish = finish_of(view, chain, len(weight))
    x = lowerer.nhwc(source)
    before, after = (pair(side, 0) for side in padding)
    options = {
        "kernel": weight.shape[2:],
        "strides": pair(call.attrs.strides),
        "padding": (*before, *after),
        "dilation": pair(call.attrs.dilation),
        "groups": int(call.attrs.groups),
    }
    out = nhwc_sizes(lowerer, finish.end)
    sizes = name_dynamic_sizes([*list(x.ty.shape)[:3], *out[:3]])
    conv = usual_convolution(sizes[:3], int(x.ty.shape[3]), len(weight), x_dtype=x_dtype, **options)
    if conv.kernel == conv.strides == (1, 1) and not any(conv.padding) and conv.groups == 1:
        codes = None if x_dtype == "float32" else code_range(view, view.var[source])
        matrix = np.ascontiguousarray(weight[:, :, 0, 0].T)
        kernel: Kernel | None = multiply_rows(
            sizes[:3], matrix, finish.bias, finish.epilogue, x_dtype, lowerer.isa, codes=codes
        )
    else:
        operands = conv, sizes, weight, finish.bias, pad_value, finish.epilogue
        kernel = lowerer.choose(choose_dynamic_convolution, *operands)
    if kernel is None:
        return False
    inputs = [x, *(lowerer.nhwc(other) for other in finish.others)]
    lowerer.give_nhwc(finish.end, lowerer.call(kernel, inputs, out, dtype_of(view.var[finish.end]), finish.end))
    return True


def nhwc_sizes(lowerer: Lowerer, name: str) -> list[relax.Expr]:
    """Shape of a picture, or of a line as a picture of one row, in NHWC."""
    *batch, channels, rows, columns = _as_picture(lowerer.view.var[name])
    return [*batch, rows, columns, channels]


def _as_picture(var: relax.Var) -> list[relax.Expr]:
    sizes = list(var.ty.shape)
    return sizes if len(sizes) == 4 else [*sizes[:2], 1, sizes[2]]


def in_nhwc(lowerer: Lowerer, names: Sequence[str]) -> bool:
    """True for pictures of equal sizes, one of which is there in NHWC."""
    views = [lowerer.view.var[name] for name in names]
    equal = len({sizes_of(var) for var in views}) == 1
    return equal and lowerer.is_rank4(names[0]) and any(lowerer.has_nhwc(name) for name in names)


def max_pool(lowerer: Lowerer, chain: Chain) -> bool:
    """Maximum pooling of windows of which each has a tap inside."""
    call = lowerer.view.value[chain.head]
    a, source = call.attrs, call.args[0].name
    if a.layout != "NCHW" or not lowerer.has_nhwc(source):
        return False
    x = lowerer.nhwc(source)
    out = nhwc_sizes(lowerer, chain.result)
    sizes: Any = name_dynamic_sizes([*list(x.ty.shape)[:3], *out[:3]])
    if not is_number(x.ty.shape[3]):
        return False
    top, left, bottom, right = (int(p) for p in a.padding)
    pool = DynamicPool2d(
        sizes[0],
        sizes[1],
        sizes[2],
        int(x.ty.shape[3]),
        pair(a.pool_size),
        pair(a.strides),
        (top, left, bottom, right),
        pair(a.dilation),
        bool(a.ceil_mode),
        sizes[3:],
    )
    kernel = lowerer.choose(choose_max_pool, pool, dtype_of(x)) if pool.always_taps else None
    if kernel is None:
        return False
    lowerer.give_nhwc(chain.result, lowerer.call(kernel, [x], out, dtype_of(x), chain.result))
    return True


def concat(lowerer: Lowerer, chain: Chain) -> bool:
    """Concat of pictures."""
    call = lowerer.view.value[chain.head]
    parts = call.args[0]
    if not isinstance(parts, relax.Tuple) or not all(isinstance(p, relax.Var) for p in parts.fields):
        return False
    names = [part.name for part in parts.fields]
    if not lowerer.is_rank4(chain.result) or not any(lowerer.has_nhwc(name) for name in names):
        return False
    axis = NHWC_AXIS[int(call.attrs.axis) % 4]
    tensors, out = [lowerer.nhwc(name) for name in names], nhwc_sizes(lowerer, chain.result)
    kernel = None
    if axis == 3 and all(is_number(tensor.ty.shape[3]) for tensor in tensors):
        rows = name_dynamic_sizes(list(tensors[0].ty.shape)[:3])
        shapes = [(*rows, int(tensor.ty.shape[3])) for tensor in tensors]
        kernel = lowerer.choose(choose_concat, shapes, axis, [dtype_of(tensor) for tensor in tensors])
    if kernel is None:
        lowerer.give_nhwc(chain.result, lowerer.emit(relax.op.concat(tensors, axis=axis), chain.result))
    else:
        lowerer.give_nhwc(chain.result, lowerer.call(kernel, tensors, out, dtype_of(tensors[0]), chain.result))
    return True


def quantize(lowerer: Lowerer, chain: Chain) -> bool:
    """Floats to codes of one scale."""
    call = lowerer.view.value[chain.head]
    attrs, source = call.attrs, call.args[0].name
    scale, zero_point = const_value(call.args[1]), const_value(call.args[2])
    nhwc = in_nhwc(lowerer, [source])
    moves = not nhwc and _read_as_picture(lowerer, chain.result)
    x = lowerer.nhwc(source) if nhwc else lowerer.logical(source)
    if zero_point.size != 1:
        return False
    codes = (int(zero_point.reshape(-1)[0]), attrs.qmin, attrs.qmax, attrs.dtype)
    choose = choose_quantize_to_nhwc if moves else choose_quantize
    kernel = lowerer.choose(choose, name_dynamic_sizes(list(x.ty.shape)), scale, codes)
    if kernel is None:
        return False
    shape = nhwc_sizes(lowerer, chain.result) if moves else list(x.ty.shape)
    give(lowerer, chain.result, lowerer.call(kernel, [x], shape, attrs.dtype, chain.result), nhwc or moves)
    return True


def _read_as_picture(lowerer: Lowerer, name: str) -> bool:
    """True for a picture of known channels that a convolution reads."""
    view = lowerer.view
    reads = any(op_name(view.value[reader]) == "nn.conv2d" for reader in view.readers[name])
    return reads and lowerer.is_rank4(name) and is_number(view.var[name].ty.shape[1])


def dequantize(lowerer: Lowerer, chain: Chain) -> bool:
    """Codes or sums to floats, of one scale or one a channel of pictures in NHWC."""
    call = lowerer.view.value[chain.head]
    source, axis = call.args[0].name, int(call.attrs.axis)
    scale, zero_point = const_value(call.args[1]), const_value(call.args[2])
    nhwc = in_nhwc(lowerer, [source])
    x = lowerer.nhwc(source) if nhwc else lowerer.logical(source)
    last = scale.size == zero_point.size == 1 or (axis == 1 if nhwc else axis in (-1, rank_of(call) - 1))
    if not last:
        return False
    sizes = name_dynamic_sizes(list(x.ty.shape))
    moves = nhwc and scale.size == zero_point.size == 1 and lowerer.view.is_output(chain.result)
    choose = choose_dequantize_to_nchw if moves else choose_dequantize
    kernel = lowerer.choose(choose, sizes, dtype_of(x), scale, zero_point)
    if kernel is None:
        return False
    shape = list(lowerer.view.var[chain.result].ty.shape) if moves else list(x.ty.shape)
    give(lowerer, chain.result, lowerer.call(kernel, [x], shape, "float32", chain.result), nhwc and not moves)
    return True


def give(lowerer: Lowerer, name: str, value: relax.Expr, nhwc: bool) -> None:
    """`name` exists in a layout."""
    (lowerer.give_nhwc if nhwc else lowerer.give_logical)(name, value)


def add(lowerer: Lowerer, chain: Chain) -> bool:
    """tvmq.add of two activations of equal sizes."""
    call = lowerer.view.value[chain.head]
    if not all(isinstance(arg, relax.Var) for arg in call.args) or len({sizes_of(arg) for arg in call.args}) != 1:
        return False
    names = [arg.name for arg in call.args]
    nhwc = in_nhwc(lowerer, names)
    a, b = (lowerer.nhwc(name) if nhwc else lowerer.logical(name) for name in names)
    step, _ = add_step(call, names[0])
    sizes = name_dynamic_sizes(list(a.ty.shape))
    kernel = lowerer.choose(choose_add, sizes, sizes, step, dtype_of(a))
    if kernel is None:
        return False
    give(lowerer, chain.result, lowerer.call(kernel, [a, b], list(a.ty.shape), step.dtype, chain.result), nhwc)
    return True


def table(lowerer: Lowerer, chain: Chain) -> bool:
    """A 256-entry lookup."""
    call = lowerer.view.value[chain.head]
    source, values = call.args[0].name, const_value(call.args[1])
    nhwc = in_nhwc(lowerer, [source])
    x = lowerer.nhwc(source) if nhwc else lowerer.logical(source)
    kernel = lowerer.choose(choose_table, name_dynamic_sizes(list(x.ty.shape)), dtype_of(x), values)
    if kernel is None:
        return False
    give(lowerer, chain.result, lowerer.call(kernel, [x], list(x.ty.shape), str(values.dtype), chain.result), nhwc)
    return True


def same_layout(lowerer: Lowerer, chain: Chain) -> bool:
    """The operator itself, on NHWC where a picture is there so; other operands are of the same sizes, or constants."""
    call = lowerer.view.value[chain.head]
    names = [arg.name for arg in call.args if isinstance(arg, relax.Var)]
    if len(chain.members) > 1 or not names or not in_nhwc(lowerer, [*names, chain.result]):
        return False
    moved = [nhwc_constant(arg) if is_const(arg) else arg for arg in call.args]
    if op_name(call) == "tvmq.simulated_quantize" or any(arg is None for arg in moved):
        return False
    args = [lowerer.nhwc(arg.name) if isinstance(arg, relax.Var) else arg for arg in moved]
    value = relax.Call(call.op, args, call.attrs, call.ty_args)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def float_sum(lowerer: Lowerer, chain: Chain) -> bool:
    """Sums and means over the pixels of pictures that are there in NHWC."""
    call = lowerer.view.value[chain.head]
    source, axes = call.args[0].name, [int(axis) for axis in call.attrs.axes]
    if axes != [2, 3] or not in_nhwc(lowerer, [source]) or not is_number(call.args[0].ty.shape[1]):
        return False
    x = lowerer.nhwc(source)
    batch, *_, channels = x.ty.shape
    sizes = name_dynamic_sizes(list(x.ty.shape)[:3])
    kernel = lowerer.choose(choose_float_sum, FloatSum(sizes[:1], sizes[1:], int(channels), bool(call.attrs.mean)))
    if kernel is None:
        return False
    total = lowerer.call(kernel, [x], (batch, channels), "float32", f"{chain.result}_sums")
    give(lowerer, chain.result, lowerer.reshape(total, list(call.ty.shape), chain.result), False)
    return True


def resize(lowerer: Lowerer, chain: Chain) -> bool:
    """Resize of pictures in NHWC, by loops of TVM."""
    call = lowerer.view.value[chain.head]
    lower_dynamic_resize(lowerer, chain)
    source, a = call.args[0].name, call.attrs
    if a.layout != "NCHW" or not lowerer.is_rank4(source) or not lowerer.has_nhwc(source):
        return False
    options = ("method", "coordinate_transformation_mode", "rounding_method", "out_dtype")
    numbers = {"roi": [float(r) for r in a.roi], "cubic_alpha": float(a.cubic_alpha)}
    numbers |= {"cubic_exclude": int(a.cubic_exclude), "extrapolation_value": float(a.extrapolation_value)}
    value = relax.op.image.resize2d(
        lowerer.nhwc(source), call.args[1], layout="NHWC", **numbers, **{name: getattr(a, name) for name in options}
    )
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True
