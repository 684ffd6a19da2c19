"""Where the matrices of products of two activations lie, at the places where reshapes and transposes put them.

Distances are numbers, or products of dynamic sizes.

Tests: tests/codegen/lower/patterns/test_attention.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from tvm import relax

from tvmq.codegen.kernels.attention.shape import MatrixOperand, Stride
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.strides import Sizes, StridedView, contiguous_view, strided_view
from tvmq.graph.view import View, dtype_of, op_name, sizes_of


def operand_of(
    lowerer: Lowerer, arg: relax.Expr, batch: Sequence[int | str], *, left: bool
) -> tuple[MatrixOperand, relax.Expr]:
    """Where the matrices of an argument lie, and the tensor that the kernel is given."""
    if not isinstance(arg, relax.Var):
        return _as_operand(contiguous_view("", sizes_of(arg)), sizes_of(arg), dtype_of(arg), batch), arg
    name = arg.name
    layout = strided_view(lowerer.view, name, lowerer.exists)
    readable = layout.strides[-1:] if left else layout.strides[-2:]
    if 1 not in readable or layout.base == name:
        layout = contiguous_view(name, sizes_of(arg))
    base = lowerer.logical(layout.base)
    return _as_operand(layout, sizes_of(base), dtype_of(base), batch), base


def _as_operand(layout: StridedView, shape: Sizes, dtype: str, batch: Sequence[int | str]) -> MatrixOperand:
    """Leading axes of size 1, and those that the argument lacks, are the same matrix again and again."""
    *leading, row, column = layout.strides
    sizes = layout.shape[:-2]
    steps = [0 if size == 1 else step for size, step in zip(sizes, leading, strict=True)]
    steps = [0] * (len(batch) - len(steps)) + steps
    return MatrixOperand(shape, dtype, layout.offset, tuple(steps), row, column)


def result_of(view: View, chain: Chain, out: Sizes) -> MatrixOperand:
    """Where the result's matrices lie: a transpose behind the product only changes strides."""
    last = view.value[chain.result]
    shape = sizes_of(view.var[chain.result])
    strides = contiguous_view("", shape).strides
    if op_name(last) == "permute_dims" and len(chain.members) > 1:
        axes = [int(axis) % len(out) for axis in last.attrs.axes]
        strides = tuple(strides[axes.index(axis)] for axis in range(len(out)))
    *batch, row, column = strides
    return MatrixOperand(shape, dtype_of(view.var[chain.result]), 0, tuple(batch), row, column)


def mask_of(mask: relax.Expr, scores: Sizes) -> MatrixOperand | None:
    """Where what is added to a score lies; axes of one element have stride 0. None if another size is to be spread."""
    sizes = sizes_of(mask)
    shape = (1,) * (len(scores) - len(sizes)) + sizes
    if any(size not in (1, whole) for size, whole in zip(shape, scores, strict=True)):
        return None
    strides = [0 if size == 1 else step for size, step in zip(shape, contiguous_view("", shape).strides, strict=True)]
    *batch, row, column = strides
    return MatrixOperand(sizes, "float32", 0, tuple(batch), row, column if scores[-1] != 1 else 1)


Description = TypeVar("Description")


def name_sizes(description: Description, operands: Sequence[str]) -> Description | None:
    """The description of a kernel with short names for its dynamic sizes; None if no tensor has one of them.

    operands  fields that are a MatrixOperand or None; all others are sizes, tuples of them, or have none
    """
    fields = {name: getattr(description, name) for name in description.__dataclass_fields__}  # type: ignore[attr-defined]
    tensors = [fields[name] for name in operands if fields[name] is not None]
    texts = dict.fromkeys(size for tensor in tensors for size in tensor.shape if isinstance(size, str))
    names = {text: f"size{i}" for i, text in enumerate(texts)}

    def rename(value: object) -> object:
        if isinstance(value, MatrixOperand):
            return _name_operand(value, names)
        if isinstance(value, tuple):
            return tuple(map(rename, value))
        return names[value] if isinstance(value, str) else value

    try:
        return replace(description, **{name: rename(value) for name, value in fields.items()})  # type: ignore[type-var]
    except KeyError:
        return None


def _name_operand(operand: MatrixOperand, names: dict[str, str]) -> MatrixOperand:
    def stride(value: Stride) -> Stride:
        return value if isinstance(value, int) else replace(value, names=tuple(sorted(names[n] for n in value.names)))

    shape = tuple(names[size] if isinstance(size, str) else size for size in operand.shape)
    batch = tuple(map(stride, operand.batch))
    return replace(operand, shape=shape, batch=batch, row=stride(operand.row), column=stride(operand.column))
