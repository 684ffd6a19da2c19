"""Shape arithmetic on dynamic dimensions: the rest of Shape/Gather/Concat chains that cannot be folded.

`arithmetic(call)` computes an ONNX node on Dims in NumPy, with TIR expressions for the dynamic items; so no
part of such a chain becomes an operator, and Reshape and Expand get their shapes as expressions.

Tests: tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

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
        return Dims(_simplify(np.asarray(_product(dims), dtype=object)))
    return Dims(dims[call.attributes.get("start", 0) : call.attributes.get("end")])


def _array(call: NodeCall, index: int) -> np.ndarray | None:
    """An input as an object array of ints and expressions; None if it is computed or holds fractions."""
    value = call.inputs[index]
    if isinstance(value, Dims):
        return value.values
    array = call.constant(index)
    if array is None or (array.dtype.kind == "f" and not np.array_equal(array, np.rint(array))):
        return None
    items = [bool(item) if array.dtype.kind == "b" else int(item) for item in array.ravel()]
    return np.array(items, dtype=object).reshape(array.shape)


def _simplify(array: np.ndarray) -> np.ndarray:
    flat = [item if isinstance(item, bool) else _plain_size(item) for item in array.ravel()]
    result = np.empty(len(flat), dtype=object)
    result[:] = flat
    return result.reshape(array.shape)


def _plain_size(item: Any) -> Any:
    return int(item) if isinstance(item, int | np.integer) else plain_dimension(SIMPLIFY.simplify(item))


def _product(dims: Any) -> Any:
    result: Any = 1
    for d in dims:
        result = result * d
    return result


def _dtype(call: NodeCall) -> str:
    if call.op_type == "Cast":
        from onnx import helper

        return str(helper.tensor_dtype_to_np_dtype(call.attributes["to"]))
    kinds = [value.dtype for value in call.inputs if isinstance(value, Dims)]
    return "bool" if call.op_type == "Equal" else kinds[-1]


def _gather(call: NodeCall, data: np.ndarray, indices: np.ndarray) -> np.ndarray:
    return np.take(data, indices.astype(np.int64), axis=call.attributes.get("axis", 0))


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
    result = np.asarray(_product(data), dtype=object)
    return result.reshape(1) if call.attributes.get("keepdims", 1) else result


def _concat(call: NodeCall, *parts: np.ndarray) -> np.ndarray:
    return np.concatenate(parts, axis=call.attributes.get("axis", 0))


def _unsqueeze(call: NodeCall, data: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    where = call.attributes["axes"] if axes is None else [int(a) for a in axes.ravel()]
    return np.expand_dims(data, tuple(where))


def _squeeze(call: NodeCall, data: np.ndarray, axes: np.ndarray | None = None) -> np.ndarray:
    where = call.attributes.get("axes") if axes is None else [int(a) for a in axes.ravel()]
    return np.squeeze(data, None if where is None else tuple(where))


def _reshape(call: NodeCall, data: np.ndarray, shape: np.ndarray) -> np.ndarray:
    return data.reshape([int(d) for d in shape])


def _divide(call: NodeCall, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Truncating division; dimensions are positive, so floor division is the same."""
    value = call.inputs[0]
    if isinstance(value, Dims) and value.dtype.startswith("float"):
        return None
    return a // b


def _compare_sizes(call: NodeCall, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Comparison of dimensions; None where it depends on a symbolic one."""
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


def _where(call: NodeCall, condition: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    return np.where(condition.astype(bool), a, b) if all(isinstance(c, int) for c in condition.flat) else None


def _cast(call: NodeCall, data: np.ndarray) -> np.ndarray | None:
    return data if _dtype(call) in ("int64", "int32", "float32") else None


TABLE: dict[str, Callable[..., Any]] = {
    "Add": lambda call, a, b: a + b,
    "Cast": _cast,
    "Ceil": lambda call, a: a,
    "Concat": _concat,
    "Div": _divide,
    "Equal": _compare_sizes,
    "Floor": lambda call, a: a,
    "Gather": _gather,
    "Identity": lambda call, a: a,
    "Mul": lambda call, a, b: a * b,
    "ReduceProd": _product_of_vector,
    "Reshape": _reshape,
    "Slice": _slice,
    "Squeeze": _squeeze,
    "Sub": lambda call, a, b: a - b,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}
