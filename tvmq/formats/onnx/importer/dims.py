"""Shape arithmetic on dynamic dimensions: the rest of Shape/Gather/Concat chains that cannot be folded.

`arithmetic(call)` computes an ONNX node on Dims in NumPy, with TIR expressions for the dynamic items; so no
part of such a chain becomes an operator, and Reshape and Expand get their shapes as expressions.

Tests: tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tvm

from tvmq.formats.onnx.importer.repairs.node import Dims, NodeCall, plain_dimension

SIMPLIFY = tvm.sym.Analyzer()


def arithmetic(call: NodeCall) -> Dims | None:
    """The node's result if it is made of dimensions and constants, None if it needs values of tensors."""
    if call.op_type in ("Shape", "Size"):
        return _shape(call)
    compute = TABLE.get(call.op_type)
    if compute is None or not any(isinstance(value, Dims) for value in call.inputs):
        return None
    arrays = [_array(call, index) for index in range(len(call.inputs))]
    present = [value is not None for value in call.inputs]
    if any(array is None and there for array, there in zip(arrays, present, strict=True)):
        return None
    result = compute(call, *arrays)
    if result is None:
        return None
    return Dims(_simplify(np.asarray(result, dtype=object)), _dtype(call))


def _shape(call: NodeCall) -> Dims | None:
    value = call.inputs[0]
    dims = list(value.values.shape) if isinstance(value, Dims) else None
    if dims is None:
        if getattr(value.ty, "shape", None) is None:
            return None
        dims = call.shape()
    if call.op_type == "Size":
        return Dims(_simplify(np.asarray(math.prod(dims), dtype=object)))
    return Dims(dims[call.attributes.get("start", 0) : call.attributes.get("end")])


def _array(call: NodeCall, index: int) -> np.ndarray | None:
    """An input as an object array of ints and expressions; None if it is not a constant or has fractions."""
    value = call.inputs[index]
    if isinstance(value, Dims):
        return value.values
    array = call.constant(index)
    if array is None or (array.dtype.kind == "f" and not np.array_equal(array, np.rint(array))):
        return None
    items = [bool(item) if array.dtype.kind == "b" else int(item) for item in array.ravel()]
    return np.array(items, dtype=object).reshape(array.shape)


def _simplify(array: np.ndarray) -> np.ndarray:
    result = np.empty(array.size, dtype=object)
    for position, item in enumerate(array.ravel()):
        number = item if isinstance(item, int | np.integer) else SIMPLIFY.simplify(item)
        result[position] = item if isinstance(item, bool) else plain_dimension(number)
    return result.reshape(array.shape)


def _dtype(call: NodeCall) -> str:
    if call.op_type == "Cast":
        from onnx import helper

        return str(helper.tensor_dtype_to_np_dtype(call.attributes["to"]))
    kinds = [value.dtype for value in call.inputs if isinstance(value, Dims)]
    return "bool" if call.op_type == "Equal" else kinds[-1]


def _slice(call: NodeCall, data: np.ndarray, *bounds: np.ndarray | None) -> np.ndarray | None:
    """Slice of a vector; its only axis is 0."""
    starts, stops, _, steps = [None if b is None else list(b.ravel()) for b in (*bounds, None, None)[:4]]
    if data.ndim != 1 or not starts or not stops or not all(isinstance(i, int) for i in (starts[0], stops[0])):
        return None
    return data[starts[0] : stops[0] : steps[0] if steps else 1]


def _product_of_vector(call: NodeCall, data: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray | None:
    """ReduceProd of a vector."""
    if data.ndim != 1:
        return None
    result = np.asarray(math.prod(data), dtype=object)
    return result.reshape(1) if call.attributes.get("keepdims", 1) else result


def _axes(call: NodeCall, axes: np.ndarray | None) -> Any:
    """Axes of Squeeze and Unsqueeze, an attribute or the second input."""
    items = call.attributes.get("axes") if axes is None else axes.ravel()
    return None if items is None else tuple(map(int, items))


def _divide(call: NodeCall, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Truncating division; dimensions are positive, so floor division is the same."""
    value = call.inputs[0]
    if isinstance(value, Dims) and value.dtype.startswith("float"):
        return None
    return a // b


def _compare_sizes(call: NodeCall, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Comparison of dimensions; None where it depends on a dynamic one."""
    pairs = [_are_equal(x, y) for x, y in zip(*(side.ravel() for side in np.broadcast_arrays(a, b)), strict=True)]
    if any(known is None for known in pairs):
        return None
    return np.array(pairs, dtype=object).reshape(np.broadcast(a, b).shape)


def _are_equal(a: Any, b: Any) -> bool | None:
    numbers = [item for item in (a, b) if isinstance(item, int)]
    if len(numbers) == 2:
        return a == b
    if numbers and numbers[0] < 1:
        return False  # dimensions are positive
    return True if SIMPLIFY.can_prove_equal(a, b) else None


TABLE: dict[str, Callable[..., Any]] = {
    "Add": lambda call, a, b: a + b,
    "Cast": lambda call, a: a if _dtype(call) in ("int64", "int32", "float32") else None,
    "Ceil": lambda call, a: a,
    "Concat": lambda call, *parts: np.concatenate(parts, axis=call.attributes.get("axis", 0)),
    "Div": _divide,
    "Equal": _compare_sizes,
    "Floor": lambda call, a: a,
    "Gather": lambda call, a, indices: np.take(a, indices.astype(np.int64), axis=call.attributes.get("axis", 0)),
    "Identity": lambda call, a: a,
    "Mul": lambda call, a, b: a * b,
    "ReduceProd": _product_of_vector,
    "Reshape": lambda call, a, shape: a.reshape([int(d) for d in shape]),
    "Slice": _slice,
    "Squeeze": lambda call, a, axes=None: np.squeeze(a, _axes(call, axes)),
    "Sub": lambda call, a, b: a - b,
    "Unsqueeze": lambda call, a, axes=None: np.expand_dims(a, _axes(call, axes)),
    "Where": lambda call, c, a, b: np.where(c.astype(bool), a, b) if all(isinstance(i, int) for i in c.flat) else None,
}
