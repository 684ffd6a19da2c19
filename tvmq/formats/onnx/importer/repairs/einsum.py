"""Einsum as products of matrices, transposes and sums; TVM's is one loop that no pattern matches.

Before                                          After
    y = Einsum(x, w)  "bgi,gio->bgo"                t = permute_dims(x, [1, 0, 2])         g b i
                                                    p = matmul(t, w)                       g b o
                                                    y = permute_dims(p, [1, 0, 2])         b g o

Operands are taken two by two. Of a pair, labels of both that the result has are batches, labels of both that it lacks
are summed by the product; labels of one alone that nothing reads later are summed before. A constant stands right.

Tests: tests/formats/onnx/importer/test_einsum.py
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import reduce
from typing import Any

from tvm import relax
from tvm.ir import GenericConst

from tvmq.formats.onnx.importer.repairs.node import FIX_SHAPES, NodeCall, plain_dimension, tensor_constant
from tvmq.graph.size_text import size_text
from tvmq.graph.sizes import are_equal


@dataclass
class Term:
    """A tensor and a label for each of its axes."""

    value: Any
    labels: str

    def size(self, label: str) -> Any:
        """Size of an axis."""
        return plain_dimension(self.value.ty.shape.values[self.labels.index(label)])

    @property
    def is_constant(self) -> bool:
        """True for a weight."""
        return isinstance(self.value, GenericConst)


def einsum(call: NodeCall) -> relax.Expr | None:
    """Einsum; None leaves labels that stand twice in one operand (diagonals) to TVM."""
    equation = _labels(call)
    if equation is None:
        return None
    operands, result = equation
    sizes: dict[str, Any] = {}
    terms = [Term(value, labels) for value, labels in zip(call.inputs, operands, strict=True)]
    for term in terms:
        for label in term.labels:
            sizes[label] = term.size(label) if are_equal(sizes.get(label, 1), 1) else sizes[label]
    terms = [_without_ones(call, term, sizes) for term in terms]
    for size, other in ((term.size(label), sizes[label]) for term in terms for label in term.labels):
        if are_equal(size, other):
            continue
        if isinstance(size, int) and isinstance(other, int):
            return None
        what = f"a label has the sizes {size_text(size)} and {size_text(other)}, which may differ"
        raise call.unsupported_error(what, FIX_SHAPES)
    first = terms.pop(0)
    for position, term in enumerate(terms):
        later = "".join(other.labels for other in terms[position + 1 :])
        first = _product(call, first, term, set(result + later))
    first = _sum_labels(call, first, set(result))
    return _order_axes(call, first, result).value


def _without_ones(call: NodeCall, term: Term, sizes: dict[str, Any]) -> Term:
    """A tensor without the axes of size 1 that are broadcast to those of another."""
    kept = "".join(label for label in term.labels if are_equal(term.size(label), sizes[label]) or term.size(label) != 1)
    if kept == term.labels:
        return term
    return Term(_reshape(call, term.value, [term.size(label) for label in kept]), kept)


def _labels(call: NodeCall) -> tuple[list[str], str] | None:
    """Labels of the operands and of the result, each once; an ellipsis becomes labels of its own."""
    left, arrow, right = call.text("equation", "").replace(" ", "").partition("->")
    operands = left.split(",")
    if len(operands) != len(call.inputs):
        raise call.unsupported_error(
            f"its equation has {len(operands)} operands, but it has {len(call.inputs)} inputs", "correct the model"
        )
    ranks = [len(call.shape(index)) for index in range(len(operands))]
    spread = [rank - len(labels.replace("...", "")) for rank, labels in zip(ranks, operands, strict=True)]
    if any(count != 0 if "..." not in labels else count < 0 for count, labels in zip(spread, operands, strict=True)):
        raise call.unsupported_error(
            f"its equation '{left}{arrow}{right}' does not fit ranks {ranks}", "correct the model"
        )
    own = "".join(chr(0x100 + position) for position in range(max(spread)))
    operands = [labels.replace("...", own[len(own) - count :]) for count, labels in zip(spread, operands, strict=True)]
    if not arrow:
        seen = "".join(operands)
        right = "..." + "".join(sorted(label for label in set(seen) - set(own) if seen.count(label) == 1))
    right = right.replace("...", own)
    if any(len(set(labels)) < len(labels) for labels in [*operands, right]):
        return None
    if set(right) - set("".join(operands)):
        raise call.unsupported_error(
            f"its equation '{left}{arrow}{right}' has unknown output labels", "correct the model"
        )
    return operands, right


def _product(call: NodeCall, a: Term, b: Term, wanted: set[str]) -> Term:
    """The product of two tensors, summed over what is not wanted."""
    a, b = (b, a) if a.is_constant and not b.is_constant else (a, b)
    a, b = _sum_labels(call, a, wanted | set(b.labels)), _sum_labels(call, b, wanted | set(a.labels))
    both = [label for label in a.labels if label in b.labels]
    batches = "".join(label for label in both if label in wanted)
    inner = "".join(label for label in both if label not in wanted)
    rows = "".join(label for label in a.labels if label not in both)
    columns = "".join(label for label in b.labels if label not in both)
    if not inner:
        return _spread_product(call, a, b, batches, rows, columns)
    sizes = {label: term.size(label) for term in (b, a) for label in term.labels}
    left = _order_axes(call, a, batches + rows + inner)
    right = _order_axes(call, b, batches + inner + columns)
    # without batches the rows may be several axes; matrices of a batch have one
    kept = [] if batches and len(rows) != 1 else [sizes[label] for label in rows]
    flat = kept if kept or not batches else [_count(sizes, rows)]
    shape = [sizes[label] for label in batches]
    product = relax.op.matmul(
        _reshape(call, left.value, [*shape, *flat, _count(sizes, inner)]),
        _reshape(call, right.value, [*shape, _count(sizes, inner), _count(sizes, columns)]),
    )
    labels = batches + rows + columns
    return Term(_reshape(call, call.builder.emit(product), [sizes[label] for label in labels]), labels)


def _spread_product(call: NodeCall, a: Term, b: Term, batches: str, rows: str, columns: str) -> Term:
    """The product of elements, where nothing is summed."""
    left = _order_axes(call, a, batches + rows)
    right = _order_axes(call, b, batches + columns)
    shape = [left.size(label) for label in batches + rows] + [1] * len(columns)
    wide = [right.size(label) for label in batches] + [1] * len(rows) + [right.size(label) for label in columns]
    product = relax.op.multiply(_reshape(call, left.value, shape), _reshape(call, right.value, wide))
    return Term(call.builder.emit(product), batches + rows + columns)


def _count(sizes: dict[str, Any], labels: str) -> Any:
    return reduce(lambda product, label: product * sizes[label], labels, 1)


def _sum_labels(call: NodeCall, term: Term, wanted: set[str]) -> Term:
    """A tensor summed over the axes that nobody wants."""
    axes = [axis for axis, label in enumerate(term.labels) if label not in wanted]
    if not axes:
        return term
    kept = "".join(label for label in term.labels if label in wanted)
    if term.is_constant:
        array = term.value.value.numpy()
        return Term(tensor_constant(array.sum(tuple(axes), dtype=array.dtype)), kept)
    return Term(call.builder.emit(relax.op.sum(term.value, axes)), kept)


def _order_axes(call: NodeCall, term: Term, labels: str) -> Term:
    """A tensor with its axes in another order."""
    order = [term.labels.index(label) for label in labels]
    if order == list(range(len(order))):
        return term
    if term.is_constant:
        return Term(tensor_constant(term.value.value.numpy().transpose(order).copy()), labels)
    return Term(call.builder.emit(relax.op.permute_dims(term.value, order)), labels)


def _reshape(call: NodeCall, value: Any, shape: list[Any]) -> Any:
    """A tensor in another shape."""
    old = [plain_dimension(size) for size in value.ty.shape.values]
    if len(old) == len(shape) and all(are_equal(a, b) for a, b in zip(old, shape, strict=True)):
        return value
    if isinstance(value, GenericConst):
        array = value.value.numpy()
        if math.prod(shape) == array.size:
            return tensor_constant(array.reshape(shape))
    return call.builder.emit(relax.op.reshape(value, shape))
