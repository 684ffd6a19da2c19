"""Products of two tensors, of codes or floats, at the places where reshapes and transposes put their elements."""

from __future__ import annotations

from collections.abc import Sequence

from tvm import relax

from tvmq.graph.sizes import is_number
from tvmq.graph.view import View, dtype_of, op_name, rank_of, shape_of
from tvmq.kernels.attention.batch_matmul_shape import BatchMatmul, Operand
from tvmq.kernels.parts.types import Dequantize, FixedRequantize, Requantize
from tvmq.lower.lowerer import Lowerer
from tvmq.lower.patterns.chains import Chain
from tvmq.lower.rules import attention
from tvmq.lower.rules.epilogue import codes_step, dequantize_step
from tvmq.lower.select import batch_matmul_float_kernel, batch_matmul_kernel
from tvmq.lower.strides import Strided, contiguous, strided_view


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel for the product, its scale and a transpose of the result."""
    view = lowerer.view
    if chain.members[0] != chain.head:
        return attention.lower(lowerer, chain)
    call = view.value[chain.head]
    out = shape_of(view.var[chain.head])
    batch = out[:-2]
    (a, a_input), (b, b_input) = (operand_of(lowerer, arg, batch, left=i == 0) for i, arg in enumerate(call.args))
    scaled = chain.after_head()[:1]
    result = result_of(view, chain, out)
    depth = shape_of(call.args[0])[-1]
    product = BatchMatmul(batch, out[-2], depth, out[-1], a, b, result, call.attrs.a_zero, call.attrs.b_zero)
    step = step_of(view, scaled[0], out[-1]) if scaled else None
    kernel = batch_matmul_kernel(product, step, lowerer.isa) if 0 not in out else None
    if kernel is None:
        return False
    value = lowerer.call(kernel, [a_input, b_input], result.shape, dtype_of(view.var[chain.result]), chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def lower_float(lowerer: Lowerer, chain: Chain) -> bool:
    """One kernel for the product of two float tensors and a transpose of the result; False for a sum behind it."""
    view = lowerer.view
    call = view.value[chain.head]
    types = [arg.ty for arg in call.args]
    if any(dtype_of(arg) != "float32" or rank_of(arg) < 2 for arg in call.args) or not all(
        is_number(size) for ty in types for size in ty.shape
    ):
        return False
    if any(op_name(view.value[name]) != "permute_dims" for name in chain.after_head()):
        return False
    out = shape_of(view.var[chain.head])
    (a, a_input), (b, b_input) = (operand_of(lowerer, arg, out[:-2], left=i == 0) for i, arg in enumerate(call.args))
    result = result_of(view, chain, out)
    product = BatchMatmul(out[:-2], out[-2], shape_of(call.args[0])[-1], out[-1], a, b, result, 0, 0)
    kernel = batch_matmul_float_kernel(product, lowerer.isa)
    if kernel is None:
        return False
    value = lowerer.call(kernel, [a_input, b_input], result.shape, "float32", chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def operand_of(lowerer: Lowerer, arg: relax.Expr, batch: Sequence[int], *, left: bool) -> tuple[Operand, relax.Expr]:
    """Where the matrices of an argument lie, and the tensor that the kernel is given."""
    if not isinstance(arg, relax.Var):
        return _as_operand(contiguous("", shape_of(arg)), shape_of(arg), dtype_of(arg), batch), arg
    name = arg.name
    found = strided_view(lowerer.view, name, lowerer.exists)
    readable = found.strides[-1:] if left else found.strides[-2:]
    if 1 not in readable or found.base == name:
        found = contiguous(name, shape_of(arg))
    base = lowerer.logical(found.base)
    return _as_operand(found, shape_of(base), dtype_of(base), batch), base


def _as_operand(found: Strided, shape: tuple[int, ...], dtype: str, batch: Sequence[int]) -> Operand:
    """Leading axes of size 1, and those that the argument lacks, are the same matrix again and again."""
    *leading, row, column = found.strides
    sizes = found.shape[:-2]
    steps = [0 if size == 1 else step for size, step in zip(sizes, leading, strict=True)]
    steps = [0] * (len(batch) - len(steps)) + steps
    return Operand(shape, dtype, found.offset, tuple(steps), row, column)


def result_of(view: View, chain: Chain, out: tuple[int, ...]) -> Operand:
    """Where the result's matrices lie: a transpose behind the product only changes strides."""
    last = view.value[chain.result]
    shape = shape_of(view.var[chain.result])
    strides = contiguous("", shape).strides
    if op_name(last) == "permute_dims" and len(chain.members) > 1:
        axes = [int(axis) % len(out) for axis in last.attrs.axes]
        strides = tuple(strides[axes.index(axis)] for axis in range(len(out)))
    *batch, row, column = strides
    return Operand(shape, dtype_of(view.var[chain.result]), 0, tuple(batch), row, column)


def step_of(view: View, name: str, columns: int) -> Requantize | FixedRequantize | Dequantize:
    """The epilogue for the binding behind the product."""
    call = view.value[name]
    if op_name(call) == "tvmq.requantize":
        return codes_step(call, columns)
    return dequantize_step(call, columns)
