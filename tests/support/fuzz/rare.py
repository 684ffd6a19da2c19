"""Further steps of graphs.py: integers, booleans, duplicated nodes, and rare operators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from tests.support.fuzz.graphs import Pool

WHOLE = (TensorProto.INT32, TensorProto.INT64, TensorProto.INT8, TensorProto.UINT8)


def _of(pool: Pool, *kinds: int) -> str | None:
    """A tensor of one of these types."""
    found = [name for kind in kinds for name in pool.tensors(lambda shape: True, kind)]
    return pool.pick(found) if found else None


def whole_numbers(pool: Pool) -> Any:
    """Arithmetic of integers, with themselves or a constant; a float tensor is cast first where there are none."""
    x = _of(pool, *WHOLE)
    if x is None:
        source = _of(pool, TensorProto.FLOAT)
        return source and pool.add("Cast", [source], to=pool.pick(WHOLE))
    dtype = helper.tensor_dtype_to_np_dtype(pool.types[x][0])
    other = x if pool.chance(0.3) else pool.constant(pool.random.integers(1, 5, pool.pick([(), (1,)])).astype(dtype))
    operator = pool.pick(["Add", "Sub", "Mul", "Max", "Min", "Equal", "Greater", "Less", "Abs", "Relu", "Sign"])
    return pool.add(operator, [x] if operator in ("Abs", "Relu", "Sign") else [x, other])


def truth(pool: Pool) -> Any:
    """And, or, xor, not; or what makes truth of numbers."""
    x = _of(pool, TensorProto.BOOL)
    if x is None:
        source = _of(pool, TensorProto.FLOAT)
        return source and pool.add(pool.pick(["IsNaN", "IsInf"]), [source])
    operator = pool.pick(["And", "Or", "Xor", "Not"])
    return pool.add(operator, [x] if operator == "Not" else [x, x])


def again(pool: Pool) -> Any:
    """A node that is there already, once more: equal inputs, other names."""
    nodes = [node for node in pool.nodes if node.input]
    if not nodes:
        return None
    node = pool.pick(nodes)
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return pool.add(node.op_type, list(node.input), outputs=len(node.output), **attributes)


def codes(pool: Pool) -> Any:
    """Rounded to 8 bits and back, as models with scales of their own have it."""
    x = _of(pool, TensorProto.FLOAT)
    if x is None:
        return None
    scale, kind = pool.constant(np.float32(pool.pick([0.02, 0.1]))), pool.pick([np.int8, np.uint8])
    zero = pool.constant(kind(pool.integer(0, 3)))
    if not pool.add("QuantizeLinear", [x, scale, zero]):
        return None
    return pool.add("DequantizeLinear", [list(pool.types)[-1], scale, zero])


def rare(pool: Pool) -> Any:
    """Append one of the operators that few models have."""
    found = pool.tensors(lambda shape: len(shape) >= 1 and 0 not in shape)
    if not found:
        return None
    x = pool.pick(found)
    rank = len(pool.shape(x))
    name = pool.pick(list(RARE))
    least, step = RARE[name]
    return step(pool, name, x, pool.integer(-rank, rank - 1)) if rank >= least else None


Rare = Callable[[Pool, str, str, int], Any]


def _with_axis(pool: Pool, name: str, x: str, axis: int) -> Any:
    return pool.add(name, [x], axis=axis)


def _plain(pool: Pool, name: str, x: str, _axis: int) -> Any:
    return pool.add(name, [x])


def _cum_sum(pool: Pool, name: str, x: str, axis: int) -> Any:
    options = {"exclusive": pool.integer(0, 1), "reverse": pool.integer(0, 1)}
    return pool.add(name, [x, pool.constant(np.int64(axis))], **options)


def _top_k(pool: Pool, name: str, x: str, axis: int) -> Any:
    count = pool.ints(pool.integer(1, pool.shape(x)[axis]))
    return pool.add(name, [x, count], outputs=2, axis=axis, largest=pool.integer(0, 1))


def _gather_elements(pool: Pool, name: str, x: str, axis: int) -> Any:
    size = pool.shape(x)[axis]
    return pool.add(name, [x, pool.constant(pool.random.integers(-size, size, pool.shape(x)))], axis=axis)


def _trilu(pool: Pool, name: str, x: str, _axis: int) -> Any:
    return pool.add(name, [x, pool.constant(np.int64(pool.integer(-1, 1)))], upper=pool.integer(0, 1))


def _response(pool: Pool, name: str, x: str, _axis: int) -> Any:
    return pool.add(name, [x], size=pool.pick([1, 3]))


def _einsum(pool: Pool, name: str, x: str, _axis: int) -> Any:
    letters = "abcdef"[: len(pool.shape(x))]
    return pool.add(name, [x], equation=f"{letters}->{letters[::-1]}")


def _group_norm(pool: Pool, name: str, x: str, _axis: int) -> Any:
    size = pool.shape(x)[1]
    return pool.add(name, [x, pool.floats(size), pool.floats(size)], num_groups=pool.pick([1, size]))


def _blocks(pool: Pool, name: str, x: str, _axis: int) -> Any:
    return len(pool.shape(x)) == 4 and pool.add(name, [x], blocksize=pool.pick([1, 2]))


def _window(pool: Pool, name: str, x: str, _axis: int) -> Any:
    kernel = [pool.integer(1, min(2, size)) for size in pool.shape(x)[2:]]
    return pool.add(name, [x], kernel_shape=kernel, p=pool.integer(1, 2))


def _one_hot(pool: Pool, name: str, x: str, axis: int) -> Any:
    numbers = pool.constant(pool.random.integers(-3, 3, pool.shape(x)))
    depth, values = pool.constant(np.int64(4)), pool.constant(np.float32([0, pool.pick([1, -2])]))
    return pool.add(name, [numbers, depth, values], axis=axis)


RARE: dict[str, tuple[int, Rare]] = {  # least rank, step
    "CumSum": (1, _cum_sum), "TopK": (1, _top_k), "GatherElements": (1, _gather_elements), "Trilu": (2, _trilu),
    "LRN": (3, _response), "Einsum": (1, _einsum), "GroupNormalization": (3, _group_norm), "Hardmax": (1, _with_axis),
    "LpNormalization": (1, _with_axis), "SpaceToDepth": (4, _blocks), "LpPool": (3, _window),
    "GlobalLpPool": (3, _plain), "MeanVarianceNormalization": (4, _plain), "OneHot": (1, _one_hot), "Shrink": (1, _plain),
    "Size": (1, _plain), "NonZero": (1, _plain), "Det": (2, _plain), "Softplus": (1, _plain),
}  # fmt: skip
