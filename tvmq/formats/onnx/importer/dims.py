"""Shape arithmetic on dynamic dimensions: the rest of Shape/Gather/Concat chains that cannot be folded.

`arithmetic(call)` computes an ONNX node on Dims in NumPy, with TIR expressions for the dynamic items; so no
part of such a chain becomes an operator, and Reshape and Expand get their shapes as expressions.

Tests: tests/formats/onnx/importer/test_shape_folding.py
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import tvm

from tvmq.formats.onnx.importer.repairs.node import Dims, NodeCall, plain_dimension
from tvmq.formats.onnx.importer.scaled_sizes import ScaledSize
from tvmq.graph.size_division import divide, remainder

SIMPLIFY = tvm.sym.Analyzer()


def arithmetic(call: NodeCall) -> Dims | None:
    """The node's result if it is made of dimensions and constants, None if it needs values of tensors."""
    if call.op_type in ("Shape", "Size"):
        return _shape(call)
    compute = TABLE.get(call.op_type)
    if compute is None or not any(isinstance(value, Dims) for value in call.inputs):
        return None
    arrays = [_array(call, index) for index in range(len(call.inputs))]
    if call.op_type not in TAKES_SCALED and any(_is_scaled(array) for array in arrays):
        return None
    present = [value is not None for value in call.inputs]
    if any(array is None and there for array, there in zip(arrays, present, strict=True)):
        return None
    result = compute(call, *arrays)
    result = None if result is None else _with_one_operator(np.asarray(result, dtype=object))
    return None if result is None else Dims(_simplify(result), _dtype(call))


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
    """An input as an object array of ints and expressions; None if it is not a constant.

    Fractions are Python floats, for products with float32; None for other operators.
    """
    value = call.inputs[index]
    if isinstance(value, Dims):
        return value.values
    array = call.constant(index)
    if array is None or (array.dtype.kind == "f" and not np.isfinite(array).all()):
        return None
    items = [bool(item) if array.dtype.kind == "b" else item.item() for item in array.ravel()]
    items = [int(item) if isinstance(item, float) and item.is_integer() else item for item in items]
    if any(isinstance(item, float) for item in items) and call.op_type not in ("Div", "Mul"):
        return None
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result.reshape(array.shape)


def _is_scaled(array: np.ndarray | None) -> bool:
    return array is not None and any(isinstance(item, ScaledSize) for item in array.flat)


def _with_one_operator(array: np.ndarray) -> np.ndarray | None:
    """Scaled sizes and whole numbers as scaled sizes of one operator; None where there are two."""
    operators = {item.operator for item in array.flat if isinstance(item, ScaledSize)}
    if not operators:
        return array
    if len(operators) > 1:
        return None
    (operator,) = operators
    scale = np.frompyfunc(lambda item: item if isinstance(item, ScaledSize) else ScaledSize(item, operator, 1.0), 1, 1)
    return np.asarray(scale(array), dtype=object)


def _simplify(array: np.ndarray) -> np.ndarray:
    result = np.empty(array.size, dtype=object)
    for position, item in enumerate(array.ravel()):
        number = item if isinstance(item, int | np.integer | ScaledSize) else SIMPLIFY.simplify(item)
        result[position] = item if isinstance(item, bool) else plain_dimension(number)
    return result.reshape(array.shape)


def _dtype(call: NodeCall) -> str:
    if call.op_type == "Cast":
        from onnx import helper

        return str(helper.tensor_dtype_to_np_dtype(call.attributes["to"]))
    kinds = [value.dtype for value in call.inputs if isinstance(value, Dims)]
    return "bool" if call.op_type == "Equal" else kinds[-1]


def _slice(call: NodeCall, data: np.ndarray, *bounds: np.ndarray | None) -> np.ndarray | None:
    """Slice with numbers as bounds."""
    starts, stops, axes, steps = [None if b is None else list(b.ravel()) for b in (*bounds, None, None)[:4]]
    if not starts or not stops or not all(isinstance(item, int) for item in (*starts, *stops)):
        return None
    for position, axis in enumerate(axes or range(len(starts))):
        places = range(data.shape[axis])[starts[position] : stops[position] : steps[position] if steps else 1]
        data = np.take(data, list(places), axis=axis)
    return data


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


def _multiply(call: NodeCall, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Product; with fractions it is a ScaledSize."""
    if not any(isinstance(item, float) for array in (a, b) for item in array.flat):
        return a * b
    sizes, constants = (b, a) if any(isinstance(item, float) for item in a.flat) else (a, b)
    return _scale(call, sizes, "Mul", constants)


def _divide(call: NodeCall, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Quotient: of integers rounded towards zero; of float32 a ScaledSize."""
    value = call.inputs[0]
    if isinstance(value, Dims) and value.dtype.startswith("float"):
        return _scale(call, a, "Div", b)
    return np.frompyfunc(divide, 2, 1)(a, b)


def _scale(call: NodeCall, sizes: np.ndarray, operator: str, constants: np.ndarray) -> np.ndarray | None:
    """Scaled sizes of sizes and positive constants; None for others."""
    if not all(isinstance(item, int | float) and item > 0 for item in constants.flat):
        return None
    return np.asarray(np.frompyfunc(lambda size, by: ScaledSize(size, operator, float(by)), 2, 1)(sizes, constants))


def _round_sizes(call: NodeCall, a: np.ndarray, up: bool = False) -> np.ndarray | None:
    """Floor or Ceil; None where a scaled size has no fraction that is equal to it."""
    items = [(item.ceil() if up else item.floor()) if isinstance(item, ScaledSize) else item for item in a.flat]
    if any(item is None for item in items):
        return None
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result.reshape(a.shape)


def _cast(call: NodeCall, a: np.ndarray) -> np.ndarray | None:
    """Cast: to an integer type it rounds down, as sizes are positive."""
    dtype = _dtype(call)
    if dtype == "float32":
        return a
    return _round_sizes(call, a) if dtype in ("int64", "int32") else None


def _remainder(call: NodeCall, a: np.ndarray, b: np.ndarray) -> np.ndarray | None:
    """Mod with the sign of the divisor."""
    return None if call.attributes.get("fmod", 0) else np.frompyfunc(remainder, 2, 1)(a, b)


def _extreme(numbers: Callable[..., Any], expressions: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    """Max or Min of arrays, element by element."""
    return reduce(np.frompyfunc(lambda a, b: _of_two(numbers, expressions, a, b), 2, 1), arrays)


def _of_two(numbers: Callable[..., Any], expressions: Callable[..., Any], a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return numbers(a, b)
    return expressions(*(tvm.tirx.const(item, "int64") if isinstance(item, int) else item for item in (a, b)))


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
    "Cast": _cast,
    "Ceil": lambda call, a: _round_sizes(call, a, up=True),
    "Concat": lambda call, *parts: np.concatenate(parts, axis=call.attributes.get("axis", 0)),
    "Div": _divide,
    "Equal": _compare_sizes,
    "Floor": _round_sizes,
    "Gather": lambda call, a, indices: np.take(a, indices.astype(np.int64), axis=call.attributes.get("axis", 0)),
    "Identity": lambda call, a: a,
    "Max": lambda call, *parts: _extreme(max, tvm.tirx.max, *parts),
    "Min": lambda call, *parts: _extreme(min, tvm.tirx.min, *parts),
    "Mod": _remainder,
    "Mul": _multiply,
    "Neg": lambda call, a: -a,
    "ReduceProd": _product_of_vector,
    "Reshape": lambda call, a, shape: a.reshape([int(d) for d in shape]),
    "Slice": _slice,
    "Squeeze": lambda call, a, axes=None: np.squeeze(a, _axes(call, axes)),
    "Sub": lambda call, a, b: a - b,
    "Transpose": lambda call, a: np.transpose(a, call.attributes.get("perm")),
    "Unsqueeze": lambda call, a, axes=None: np.expand_dims(a, _axes(call, axes)),
    "Where": lambda call, c, a, b: np.where(c.astype(bool), a, b) if all(isinstance(i, int) for i in c.flat) else None,
}
# Operators that move or round scaled sizes; all others take whole numbers
TAKES_SCALED = frozenset(
    "Cast Ceil Concat Floor Gather Identity Reshape Slice Squeeze Transpose Unsqueeze Where".split()
)
