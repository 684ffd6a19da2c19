"""The steps of graphs.py: each tries to append a node with random inputs and attributes to a pool."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from onnx import TensorProto

from tests.support.fuzz.graphs import Pool

Step = Callable[[Pool], Any]


def _any(pool: Pool, *, rank: int | None = None, least: int = 0, full: bool = False) -> str | None:
    """A float tensor: of one rank, of at least so many dimensions, without empty ones."""
    found = pool.tensors(lambda s: (rank is None or len(s) == rank) and len(s) >= least and (not full or 0 not in s))
    return pool.pick(found[-4:] if found and pool.chance(0.6) else found) if found else None


def _axis(pool: Pool, x: str) -> int:
    rank = len(pool.shape(x))
    return pool.integer(-rank, rank - 1) if rank else 0


def unary(pool: Pool) -> Any:
    """An element-wise function."""
    x = _any(pool)
    attributes: dict[str, dict[str, Any]] = {
        "LeakyRelu": {"alpha": pool.pick([0.01, 0.3, 0.0, 1.5, -0.2])},
        "Elu": {"alpha": pool.pick([1.0, 0.5])},
        "HardSigmoid": {"alpha": pool.pick([0.2, 1 / 6]), "beta": 0.5},
        "Celu": {"alpha": pool.pick([1.0, 2.0])},
        "ThresholdedRelu": {"alpha": 0.5},
        "Selu": {}, "Gelu": {"approximate": pool.pick(["none", "tanh"])},
    }  # fmt: skip
    operator = pool.pick([
        *attributes, "Relu", "Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "Softplus", "Softsign", "Identity", "Floor",
        "Ceil", "Round", "Sign", "HardSwish", "Exp", "Sin", "Cos", "Mish", "Dropout", "Reciprocal", "Sqrt", "Not",
    ])  # fmt: skip
    return x and pool.add(operator, [x], **attributes.get(operator, {}))


def clip(pool: Pool) -> Any:
    """Both bounds, one, or none."""
    x = _any(pool)
    low = pool.constant(np.float32(pool.pick([-1.0, 0.0, 0.5]))) if pool.chance(0.7) else ""
    high = pool.constant(np.float32(pool.pick([1.0, 6.0, 0.5]))) if pool.chance(0.7) else ""
    return x and pool.add("Clip", [x, low, high] if high else ([x, low] if low else [x]))


def binary(pool: Pool) -> Any:
    """Two tensors that broadcast, or a tensor and a constant."""
    x = _any(pool)
    if x is None:
        return None
    shape = pool.shape(x)
    others = [name for name in pool.tensors(lambda s: True) if _broadcasts(shape, pool.shape(name))]
    if pool.chance(0.4):
        other = pool.pick(others)
    else:
        form = [d if pool.chance(0.5) else 1 for d in shape][pool.integer(0, len(shape)) :]
        other = pool.floats(*form, low=0.25 if pool.chance(0.5) else -1.0)
    pair = [x, other] if pool.chance(0.75) else [other, x]
    operator = pool.pick(["Add", "Add", "Sub", "Mul", "Mul", "Max", "Min", "Div", "PRelu", "Pow", "Mean", "Sum", "Mod"])
    return pool.add(operator, pair, **({"fmod": 1} if operator == "Mod" else {}))


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(x == y or 1 in (x, y) for x, y in zip(reversed(a), reversed(b), strict=False))


def compare(pool: Pool) -> Any:
    """A comparison, and a choice by it."""
    x = _any(pool)
    if x is None or not pool.add(pool.pick(["Greater", "Less", "LessOrEqual"]), [x, pool.constant(np.float32(0.25))]):
        return None
    return pool.add("Where", [list(pool.types)[-1], x, pool.constant(np.float32(pool.pick([0.0, -3.0])))])


def conv(pool: Pool) -> Any:
    """1-D, 2-D or 3-D, any attributes, sometimes transposed."""
    x = _any(pool, least=3, full=True)
    if x is None:
        return None
    _, channels, *sides = pool.shape(x)
    rank = len(sides)
    groups = pool.pick([1, 1, channels, pool.integer(1, channels)])
    groups = groups if channels % groups == 0 else 1
    filters = groups * pool.integer(1, 4)
    kernel = [pool.integer(1, min(3, side + 1)) for side in sides]
    attributes: dict[str, Any] = {"group": groups}
    if pool.chance(0.8):
        attributes["kernel_shape"] = kernel
    if pool.chance(0.5):
        attributes["strides"] = [pool.integer(1, 3) for _ in sides]
    if pool.chance(0.3):
        attributes["dilations"] = [pool.integer(1, 2) for _ in sides]
    if pool.chance(0.6):
        attributes["pads"] = [pool.integer(0, 2) for _ in range(2 * rank)]
    elif pool.chance(0.3):
        attributes["auto_pad"] = pool.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    transposed = pool.chance(0.2)
    shape = (channels, filters // groups, *kernel) if transposed else (filters, channels // groups, *kernel)
    inputs = [x, pool.floats(*shape), *([pool.floats(filters)] if pool.chance(0.6) else [])]
    return pool.add("ConvTranspose" if transposed else "Conv", inputs, **attributes)


def product(pool: Pool) -> Any:
    """MatMul with a constant or another tensor, or Gemm."""
    x = _any(pool, least=1)
    if x is None:
        return None
    shape = pool.shape(x)
    if len(shape) == 2 and pool.chance(0.5):
        transposed, outputs = pool.integer(0, 1), pool.integer(1, 6)
        weight = pool.floats(*((outputs, shape[1]) if transposed else (shape[1], outputs)))
        bias = [pool.floats(*pool.pick([(outputs,), (1,), (1, outputs)]))] if pool.chance(0.6) else []
        return pool.add("Gemm", [x, weight, *bias], transB=transposed, alpha=pool.pick([1.0, 0.5]))
    others = [n for n in pool.tensors(lambda s: len(s) >= 2) if pool.shape(n)[-2] == shape[-1]]
    if others and pool.chance(0.4):
        return pool.add("MatMul", [x, pool.pick(others)])
    batch = shape[:-2] if len(shape) > 2 and pool.chance(0.2) else ()
    return pool.add("MatMul", [x, pool.floats(*batch, shape[-1], pool.integer(1, 6))])


def pooling(pool: Pool) -> Any:
    """Windows of any kind, or the whole picture."""
    x = _any(pool, least=3, full=True)
    if x is None:
        return None
    if pool.chance(0.3):
        return pool.add(pool.pick(["GlobalAveragePool", "GlobalMaxPool"]), [x])
    sides = pool.shape(x)[2:]
    kernel = [pool.integer(1, min(3, side)) for side in sides]
    attributes: dict[str, Any] = {"kernel_shape": kernel, "ceil_mode": pool.integer(0, 1)}
    if pool.chance(0.6):
        attributes["strides"] = [pool.integer(1, 3) for _ in sides]
    if pool.chance(0.4):
        attributes["pads"] = [pool.integer(0, k - 1) for k in kernel] * 2
    operator = pool.pick(["MaxPool", "AveragePool"])
    if operator == "AveragePool":
        attributes["count_include_pad"] = pool.integer(0, 1)
    return pool.add(operator, [x], **attributes)


def reduction(pool: Pool) -> Any:
    """Over some axes or all."""
    x = _any(pool, least=1)
    if x is None:
        return None
    operator = pool.pick(["ReduceMean", "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceL2", "ArgMax"])
    axes = sorted({_axis(pool, x) for _ in range(pool.integer(1, 2))})
    keep = {"keepdims": pool.integer(0, 1)}
    if operator == "ArgMax":
        return pool.add(operator, [x], axis=axes[0], **keep)
    if pool.opset >= 18 or operator == "ReduceSum":
        return pool.add(operator, [x, pool.ints(*axes)] if pool.chance(0.9) else [x], **keep)
    return pool.add(operator, [x], axes=axes, **keep)


def normalization(pool: Pool) -> Any:
    """Batch, layer or instance norm, softmax."""
    x = _any(pool, least=2, full=True)
    if x is None:
        return None
    channels = pool.shape(x)[1]
    kind = pool.pick(["BatchNormalization", "LayerNormalization", "InstanceNormalization", "Softmax", "LogSoftmax"])
    if "Softmax" in kind:
        return pool.add(kind, [x], axis=_axis(pool, x))
    if kind == "LayerNormalization":
        return pool.add(kind, [x, pool.floats(pool.shape(x)[-1]), pool.floats(pool.shape(x)[-1])], axis=-1)
    statistics = [pool.floats(channels), pool.floats(channels)]
    if kind == "BatchNormalization":
        statistics += [pool.floats(channels), pool.floats(channels, low=0.2)]
    return pool.add(kind, [x, *statistics])


def reshape(pool: Pool) -> Any:
    """A change of shape that keeps the values."""
    x = _any(pool)
    if x is None:
        return None
    shape = pool.shape(x)
    kind = pool.pick(["Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze"])
    if kind == "Transpose":
        permutation = [int(i) for i in pool.random.permutation(len(shape))]
        return pool.add(kind, [x], **({"perm": permutation} if pool.chance(0.8) else {}))
    if kind == "Flatten":
        return pool.add(kind, [x], axis=pool.integer(0, len(shape)))
    if kind == "Squeeze":
        ones = [i for i, d in enumerate(shape) if d == 1]
        return pool.add(kind, [x, pool.ints(pool.pick(ones))] if ones and pool.chance(0.8) else [x])
    if kind == "Unsqueeze":
        return pool.add(kind, [x, pool.ints(pool.integer(-len(shape) - 1, len(shape)))])
    form = pool.pick([[-1], [1, -1], [0, -1] if shape else [-1], list(reversed(shape)) or [1], [*shape[:1], 1, -1]])
    return pool.add(kind, [x, pool.ints(*form)])


def pieces(pool: Pool) -> Any:
    """Slice, split, gather, concat, pad, tile, expand, depth to space, resize."""
    x = _any(pool, least=1)
    if x is None:
        return None
    shape, axis = pool.shape(x), _axis(pool, x)
    size = shape[axis]
    kind = pool.pick(["Slice", "Split", "Gather", "Concat", "Pad", "Tile", "Expand", "DepthToSpace", "Resize"])
    if kind == "Slice":
        steps = pool.pick([1, 1, 2, -1])
        ends = [pool.integer(-2, 2), pool.pick([size, 2**31 - 1, -1, 1])]
        begin, end = (size - 1, -(2**31)) if steps < 0 else ends
        return pool.add(kind, [x, pool.ints(begin), pool.ints(end), pool.ints(axis), pool.ints(steps)])
    if kind == "Split":
        first = pool.integer(0, size)
        return pool.add(kind, [x, pool.ints(first, size - first)], outputs=2, axis=axis)
    if kind == "Gather":
        indices = pool.random.integers(-size, size, pool.pick([(), (1,), (3,), (2, 2)])) if size else np.zeros(0)
        return pool.add(kind, [x, pool.constant(np.asarray(indices, np.int64))], axis=axis)
    if kind == "Concat":
        same = [n for n in pool.tensors(lambda s: len(s) == len(shape)) if _joins(shape, pool.shape(n), axis)]
        parts = [pool.pick(same) for _ in range(pool.integer(0, 2))]
        return pool.add(kind, [x, *parts, *([x] if pool.chance(0.2) else [])], axis=axis)
    if kind == "Pad":
        mode = pool.pick(["constant", "constant", "edge", "reflect"])
        least = 0 if mode != "constant" or pool.chance(0.7) else -1
        return pool.add(kind, [x, pool.ints(*(pool.integer(least, 1) for _ in range(2 * len(shape))))], mode=mode)
    if kind == "Tile":
        return pool.add(kind, [x, pool.ints(*(pool.integer(1, 2) for _ in shape))])
    if kind == "Expand":
        return pool.add(kind, [x, pool.ints(*(pool.integer(1, 3) if d == 1 else d for d in shape))])
    if kind == "DepthToSpace":
        return pool.add(kind, [x], blocksize=2, mode=pool.pick(["DCR", "CRD"]))
    scales = [1.0, 1.0, *(pool.pick([1.0, 2.0, 1.5, 0.5]) for _ in shape[2:])]
    mode = pool.pick(["nearest", "linear"])
    # onnxruntime rounds the size that the corners are aligned to, ONNX's own test cases do not
    whole = all(float(size * scale).is_integer() for size, scale in zip(shape, scales, strict=False))
    modes = ["half_pixel", "asymmetric", *(["align_corners"] if mode == "linear" and whole else [])]
    attributes = {"mode": mode, "coordinate_transformation_mode": pool.pick(modes)}
    if mode == "nearest":
        attributes["nearest_mode"] = pool.pick(["floor", "round_prefer_floor", "ceil"])
    return len(shape) == 4 and pool.add(kind, [x, "", pool.constant(np.array(scales, np.float32))], **attributes)


def _joins(a: tuple[int, ...], b: tuple[int, ...], axis: int) -> bool:
    return all(x == y for i, (x, y) in enumerate(zip(a, b, strict=True)) if i != axis % len(a))


def cast(pool: Pool) -> Any:
    """To or from another type."""
    name = pool.pick(list(pool.types))
    others = [TensorProto.INT32, TensorProto.INT64, TensorProto.INT8, TensorProto.DOUBLE, TensorProto.FLOAT16]
    to = TensorProto.FLOAT if pool.types[name][0] != TensorProto.FLOAT else pool.pick([*others, TensorProto.BOOL])
    return pool.add("Cast", [name], to=to)


def shape_of(pool: Pool) -> Any:
    """The shape of a tensor, as a number."""
    return pool.add("Shape", [pool.pick(list(pool.types))])


STEPS: dict[str, tuple[float, Step]] = {
    "unary": (5, unary), "clip": (1, clip), "binary": (4, binary), "compare": (0.6, compare), "conv": (6, conv),
    "product": (4, product), "pooling": (2, pooling), "reduction": (1.5, reduction), "normalization": (2, normalization),
    "reshape": (2, reshape), "pieces": (3, pieces), "cast": (0.5, cast), "shape_of": (0.15, shape_of),
}  # fmt: skip
