"""Checks of a node's constants: valid axes, pads and sizes, and results within the memory bound.

Every node is checked before it is folded or converted, with the constants that are known then. Sizes are counted in
Python's numbers, since ONNX's inference computes them in 64 bits, where they wrap.

Tests: tests/formats/importing/test_limits.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tvmq.base.memory import check_size
from tvmq.formats.onnx.importer.structure import refusal

if TYPE_CHECKING:
    import onnx

Dims = Sequence[int | str]


@dataclass(frozen=True)
class GraphFacts:
    """Constants, shapes and types of a graph, as far as they are known.

    constants  {name: tensor}
    shapes     {name: dimensions as numbers or names, None for an unknown rank}
    types      {name: ONNX's code of its element type}
    """

    constants: Mapping[str, onnx.TensorProto]
    shapes: Mapping[str, list[int | str] | None]
    types: Mapping[str, int]

    def shape(self, node: onnx.NodeProto, index: int = 0) -> Dims | None:
        """Dimensions of an input, None where they are unknown."""
        name = node.input[index] if index < len(node.input) else ""
        return list(self.constants[name].dims) if name in self.constants else self.shapes.get(name)

    def constant(self, node: onnx.NodeProto, index: int) -> np.ndarray | None:
        """Value of a constant input as a vector, None where it is absent or not a constant."""
        from onnx import numpy_helper

        name = node.input[index] if index < len(node.input) else ""
        return numpy_helper.to_array(self.constants[name]).ravel() if name in self.constants else None

    def dtype(self, node: onnx.NodeProto) -> str:
        """Element type of the first output, or else of the first input; bytes where neither is known."""
        from onnx import helper

        first_input = node.input[0] if node.input else ""
        own = self.constants[first_input].data_type if first_input in self.constants else self.types.get(first_input, 0)
        code = self.types.get(node.output[0], 0) or own
        return str(helper.tensor_dtype_to_np_dtype(code)) if code else "uint8"


def check_node(node: onnx.NodeProto, known: GraphFacts, max_bytes: int) -> None:
    """Refuse a node that cannot be computed, or whose results are larger than the bound.

    raises   UnsupportedOpError naming the layer, its operator, the value and what is allowed; MemoryLimitError
    """
    from onnx import helper

    if node.domain not in ("", "ai.onnx"):
        return
    check = CHECKS.get(node.op_type)
    result = check(node, known) if check else None
    where = f"from_onnx, layer '{node.name}' ({node.op_type})"
    if result is not None:
        if any(isinstance(size, int) and size < 0 for size in result):
            raise refusal(node, f"its result would have the shape {list(result)}, which has a negative size")
        check_size(result, known.dtype(node), max_bytes, where)
    for name in node.output:
        dims, code = known.shapes.get(name), known.types.get(name, 0)
        if dims and any(isinstance(size, int) and size < 0 for size in dims):
            raise refusal(node, f"its result would have the shape {dims}, which has a negative size")
        if dims and code:
            check_size(dims, str(helper.tensor_dtype_to_np_dtype(code)), max_bytes, where)


def _attribute(node: onnx.NodeProto, name: str) -> Any:
    from onnx import helper

    return next((helper.get_attribute_value(a) for a in node.attribute if a.name == name), None)


def _check_axes(node: onnx.NodeProto, axes: Sequence[int], rank: int, what: str = "axis") -> None:
    rank = max(rank, 1)
    for axis in axes:
        if not -rank <= axis < rank:
            raise refusal(node, f"{what} is {axis}, but must be from {-rank} to {rank - 1}")


def _axis(node: onnx.NodeProto, known: GraphFacts, more: int = 0) -> None:
    """The attribute "axis"; more: dimensions that the result has beyond the input."""
    shape, axis = known.shape(node), _attribute(node, "axis")
    if shape is not None and axis is not None:
        _check_axes(node, [axis], len(shape) + more)


def _axis_of_result(node: onnx.NodeProto, known: GraphFacts) -> None:
    _axis(node, known, more=1)
    depth = known.constant(node, 1) if node.op_type == "OneHot" else None
    if depth is not None and (depth.size != 1 or not 1 <= depth[0] < 2**63):
        raise refusal(node, f"depth is {depth.tolist()}, but must be one number of at least 1")


def _axes(node: onnx.NodeProto, known: GraphFacts) -> None:
    """Axes of Squeeze, Unsqueeze and the reductions, an attribute or the second input; none of them twice."""
    shape, axes_input = known.shape(node), known.constant(node, 1)
    axes = _attribute(node, "axes") if axes_input is None else axes_input.tolist()
    if shape is None or axes is None:
        return
    rank = len(shape) + (len(axes) if node.op_type == "Unsqueeze" else 0)
    _check_axes(node, axes, rank, "an axis")
    if len({axis % max(rank, 1) for axis in axes}) < len(axes):
        raise refusal(node, f"axes are {list(axes)}, but each may occur only once")


def _transpose(node: onnx.NodeProto, known: GraphFacts) -> None:
    shape, perm = known.shape(node), _attribute(node, "perm")
    if shape is not None and perm is not None and sorted(perm) != list(range(len(shape))):
        raise refusal(node, f"perm is {list(perm)}, but must contain each of 0 to {len(shape) - 1} once")


def _concat(node: onnx.NodeProto, known: GraphFacts) -> None:
    _axis(node, known)
    ranks = {len(shape) for index in range(len(node.input)) if (shape := known.shape(node, index)) is not None}
    if len(ranks) > 1:
        raise refusal(node, f"its inputs have {sorted(ranks)} dimensions, but must have equally many")


def _range(node: onnx.NodeProto, known: GraphFacts) -> Dims | None:
    parts = [known.constant(node, index) for index in range(3)]
    if parts[2] is not None and (parts[2].size != 1 or not parts[2][0]):
        raise refusal(node, f"delta is {parts[2].tolist()}, but must be one number other than 0")
    if any(part is None or part.size != 1 for part in parts):
        return None
    start, limit, delta = (part.item() for part in parts if part is not None)
    if not all(map(math.isfinite, (start, limit, delta))):
        raise refusal(node, f"start, limit and delta are {start}, {limit}, {delta}, but must be finite")
    return [max(0, math.ceil((limit - start) / delta))]


def _tile(node: onnx.NodeProto, known: GraphFacts) -> Dims | None:
    repeats, shape = known.constant(node, 1), known.shape(node)
    if repeats is None or shape is None:
        return None
    if (repeats < 0).any() or len(repeats) != len(shape):
        raise refusal(node, f"repeats are {repeats.tolist()}, but must be {len(shape)} numbers of at least 0")
    return [n * f if isinstance(n, int) else n for n, f in zip(shape, repeats.tolist(), strict=True)]


def _pad(node: onnx.NodeProto, known: GraphFacts) -> Dims | None:
    pads_input, shape, axes = known.constant(node, 1), known.shape(node), known.constant(node, 3)
    amounts = _attribute(node, "pads") if pads_input is None else pads_input.tolist()
    if amounts is None or shape is None or (axes is None and len(node.input) > 3 and node.input[3]):
        return None
    where = list(range(len(shape))) if axes is None else axes.tolist()
    _check_axes(node, where, len(shape), "an axis")
    if len(amounts) != 2 * len(where):
        raise refusal(node, f"it has {len(amounts)} pads, but must have {2 * len(where)}, two for each axis")
    result = list(shape)
    for position, axis in enumerate(where):
        size = result[axis]
        if isinstance(size, int):
            result[axis] = size + amounts[position] + amounts[position + len(where)]
    return result


def _resize(node: onnx.NodeProto, known: GraphFacts) -> Dims | None:
    first = 1 if node.op_type == "Upsample" else 2
    scales, sizes, shape = known.constant(node, first), known.constant(node, 3), known.shape(node)
    if shape is None:
        return None
    axes = _attribute(node, "axes") or range(len(shape))
    _check_axes(node, axes, len(shape), "an axis")
    for what, values in (("scales", scales), ("sizes", sizes)):
        if values is None or not values.size:
            continue
        if len(values) != len(axes) or not np.isfinite(values).all() or (values <= 0).any():
            raise refusal(node, f"{what} are {values.tolist()}, but must be {len(axes)} finite numbers above 0")
    result = list(shape)
    for position, axis in enumerate(axes):
        size = result[axis]
        if sizes is not None and sizes.size:
            result[axis] = int(sizes[position])
        elif scales is not None and scales.size and isinstance(size, int):
            result[axis] = math.floor(size * float(scales[position]))
            if size and not result[axis]:
                raise refusal(node, f"scale {scales[position]:g} reduces axis {axis} from size {size} to 0")
    return result


def _split(node: onnx.NodeProto, known: GraphFacts) -> None:
    _axis(node, known)
    sizes_input, shape = known.constant(node, 1), known.shape(node)
    parts = _attribute(node, "split") if sizes_input is None else sizes_input.tolist()
    if parts is None or shape is None:
        return
    size = shape[_attribute(node, "axis") or 0] if shape else 0
    if any(part < 0 for part in parts) or (isinstance(size, int) and sum(parts) != size):
        raise refusal(node, f"split is {list(parts)}, but must be numbers of at least 0 that add up to {size}")


def _slice(node: onnx.NodeProto, known: GraphFacts) -> None:
    starts, ends, axes, steps = (known.constant(node, index) for index in range(1, 5))
    shape = known.shape(node)
    if steps is not None and not steps.all():
        raise refusal(node, f"steps are {steps.tolist()}, but none may be 0")
    if axes is not None and shape is not None:
        _check_axes(node, axes.tolist(), len(shape), "an axis")
    lengths = [len(part) for part in (starts, ends, axes, steps) if part is not None]
    if len(set(lengths)) > 1:
        raise refusal(node, f"its starts, ends, axes and steps have {lengths} items, but must have equally many")


def _reshape(node: onnx.NodeProto, known: GraphFacts) -> None:
    target, shape = known.constant(node, 1), known.shape(node)
    if target is None:
        return
    sizes = target.tolist()
    if min(sizes, default=0) < -1 or sizes.count(-1) > 1:
        raise refusal(node, f"shape is {sizes}, but must be sizes of at least 0 and at most one -1")
    if shape is None or not all(isinstance(n, int) for n in shape):
        return
    if not _attribute(node, "allowzero"):
        if any(n == 0 and i >= len(shape) for i, n in enumerate(sizes)):
            raise refusal(node, f"shape is {sizes}, but its 0 has no dimension of the input {list(shape)}")
        sizes = [shape[i] if n == 0 else n for i, n in enumerate(sizes)]
    have, want = math.prod(int(n) for n in shape), math.prod(n for n in sizes if n != -1)
    if have != want if -1 not in sizes else (have % want if want else have):
        raise refusal(node, f"shape is {sizes}, but the input {list(shape)} has {have} elements")


def _constant_of_shape(node: onnx.NodeProto, known: GraphFacts) -> Dims | None:
    sizes = known.constant(node, 0)
    if sizes is None:
        return None
    if (sizes < 0).any():
        raise refusal(node, f"its shape is {sizes.tolist()}, but sizes must be at least 0")
    return sizes.tolist()


def _blocks(node: onnx.NodeProto, known: GraphFacts) -> None:
    shape, block = known.shape(node), _attribute(node, "blocksize") or 1
    if shape is None or len(shape) != 4:
        return
    axes, factor = ((1,), block * block) if node.op_type == "DepthToSpace" else ((2, 3), block)
    for axis in axes:
        size = shape[axis]
        if isinstance(size, int) and size % factor:
            raise refusal(node, f"blocksize is {block}, but size {size} of axis {axis} is not a multiple of {factor}")


def _convolution(node: onnx.NodeProto, known: GraphFacts) -> None:
    """Channels and ranks that fit the weight."""
    shape, weight = known.shape(node), known.shape(node, 3 if node.op_type == "QLinearConv" else 1)
    if shape is None or weight is None or not all(isinstance(n, int) for n in [*shape[1:2], *weight]):
        return
    if len(shape) != len(weight) or len(weight) < 3:
        raise refusal(node, f"the input has {len(shape)} dimensions and the weight {len(weight)}, but both must match")
    group, outer, inner = _attribute(node, "group") or 1, *map(int, weight[:2])
    wanted = outer if node.op_type == "ConvTranspose" else inner * group
    if shape[1] != wanted or outer % group:
        raise refusal(
            node, f"the input has {shape[1]} channels, but the weight {list(weight)} with group {group} takes {wanted}"
            + (f", and {outer} is not a multiple of {group}" if outer % group else "")
        )  # fmt: skip


def _division(node: onnx.NodeProto, known: GraphFacts) -> None:
    """Division of integers by a constant 0, which kills the process that computes it."""
    divisor = known.constant(node, 1)
    if divisor is not None and divisor.dtype.kind in "iu" and not divisor.all():
        raise refusal(node, "it divides integers by 0")


_REDUCTIONS = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()
CHECKS: dict[str, Callable[[Any, GraphFacts], Dims | None]] = {
    **dict.fromkeys((f"Reduce{name}" for name in _REDUCTIONS), _axes),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _axes),
    **dict.fromkeys(("ArgMax", "ArgMin", "Compress", "Gather", "GatherElements", "Hardmax", "LpNormalization"), _axis),
    **dict.fromkeys(("LayerNormalization", "LogSoftmax", "RMSNormalization", "ScatterElements"), _axis),
    **dict.fromkeys(("Softmax", "TopK"), _axis),
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose"), _convolution),
    **dict.fromkeys(("DepthToSpace", "SpaceToDepth"), _blocks),
    **dict.fromkeys(("Flatten", "OneHot"), _axis_of_result),
    **dict.fromkeys(("Resize", "Upsample"), _resize),
    **dict.fromkeys(("Div", "Mod"), _division),
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Pad": _pad,
    "Range": _range,
    "Reshape": _reshape,
    "Slice": _slice,
    "Split": _split,
    "Tile": _tile,
    "Transpose": _transpose,
}
