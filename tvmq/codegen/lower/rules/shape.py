"""Operators that move values: in NHWC where their input is there so, lest transposes appear inside the core.

Rows of a table that is kept two codes to a byte: only those that are taken are unpacked.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tvm import relax, te, tirx

from tvmq.codegen.kernels.move.concat import choose_concat
from tvmq.codegen.kernels.move.constant_pad import choose_pad
from tvmq.codegen.kernels.move.depth_to_space import Spread, depth_to_space
from tvmq.codegen.kernels.move.repeat_pixels import choose_repeat_pixels
from tvmq.codegen.kernels.move.take import choose_take
from tvmq.codegen.kernels.parts.builder import Shape
from tvmq.codegen.lower.lowerer import TO_NHWC, Lowerer, kernel_shape
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.patterns.subgraphs import shuffle_at
from tvmq.codegen.lower.rules.elementwise import NHWC_AXIS
from tvmq.errors import BuildError
from tvmq.graph import ops
from tvmq.graph.evaluate import repeats_pixels
from tvmq.graph.indices import index_operands
from tvmq.graph.module_functions import is_packed
from tvmq.graph.sizes import are_equal, is_number
from tvmq.graph.view import dtype_of, shape_of, sizes_of

MOST_REPEATS = 16  # of a pixel of free sizes, along an axis


def take_packed_rows(lowerer: Lowerer, chain: Chain) -> bool:
    """A take_packed_rows along axis 0 of an unpack of a constant; False for any other take_packed_rows."""
    call = lowerer.view.value[chain.head]
    table, indices = call.args
    packed = lowerer.view.producer(table)
    if packed is None or not is_packed(packed) or int(call.attrs.axis or 0) or not index_operands(call):
        return False
    index_tensor = lowerer.logical(indices.name) if isinstance(indices, relax.Var) else indices
    rows, *row = (int(d) for d in packed.attrs.shape)
    value = lowerer.call_te(_gather(rows, row), packed.args[0], index_tensor, name="take_packed")
    lowerer.give_logical(chain.result, lowerer.emit(value, chain.result))
    return True


def _gather(rows: int, row: list[int]):  # type: ignore[no-untyped-def]
    """Compute function of the codes of rows, for TE; an index outside of them wraps round."""
    pitch = [math.prod(row[axis + 1 :]) for axis in range(len(row))]

    def compute(packed: te.Tensor, indices: te.Tensor) -> te.Tensor:
        rank = len(indices.shape)

        def element(*i: tirx.Var) -> tirx.PrimExpr:
            at = tirx.floormod(tirx.Cast("int64", indices(*i[:rank])), rows) * math.prod(row)
            for index, step in zip(i[rank:], pitch, strict=True):
                at = at + index * step
            byte = tirx.Cast("int32", packed(tirx.floordiv(at, 2)))
            half = tirx.bitwise_and(tirx.shift_right(byte, tirx.Cast("int32", tirx.floormod(at, 2)) * 4), 15)
            return tirx.Cast("int8", tirx.bitwise_xor(half, 8) - 8)

        return te.compute([*indices.shape, *row], element, name="take_packed")

    return compute


def nhwc_shape(lowerer: Lowerer, name: str) -> list[relax.Expr]:
    """Shape of a picture of the IR, or of a line as a picture of one row, in NHWC."""
    batch, channels, *sizes = lowerer.view.var[name].ty.shape
    return [batch, *([1] * (2 - len(sizes))), *sizes, channels]


def permute_dims(lowerer: Lowerer, chain: Chain) -> bool:
    """A picture with its channels last, where that is how it lies already, and axes of one element that change places.

    Nothing is moved then, as in the heads of a single token.
    """
    call = lowerer.view.value[chain.head]
    axes, (x,) = call.attrs.axes, call.args
    if len(chain.members) > 1 or axes is None:
        return False
    order, sizes = [int(axis) for axis in axes], shape_of(x)
    long_axes = [axis for axis in order if sizes[axis] != 1]
    if long_axes == sorted(long_axes):
        source = lowerer.logical(x.name)
    elif tuple(order) == TO_NHWC and lowerer.has_nhwc(x.name):
        source = lowerer.nhwc(x.name)
    else:
        return False
    lowerer.give_logical(chain.result, lowerer.reshape(source, shape_of(call), chain.result))
    return True


def concat(lowerer: Lowerer, chain: Chain) -> bool:
    """Concat of pictures."""
    call = lowerer.view.value[chain.head]
    parts = call.args[0]
    if not isinstance(parts, relax.Tuple) or not all(isinstance(p, relax.Var) for p in parts.fields):
        return False
    names, call_axis = [part.name for part in parts.fields], int(call.attrs.axis or 0)
    nhwc = lowerer.is_rank4(chain.result) and (
        any(lowerer.was_given_nhwc(name) for name in names) or all(lowerer.has_nhwc(name) for name in names)
    )
    if not nhwc and (call.attrs.axis is None or lowerer.has_fixed_sizes(chain)):
        return False
    tensors, out = [lowerer.tensor(name, nhwc=nhwc) for name in names], lowerer.view.var[chain.result].ty.shape
    axis, out = (NHWC_AXIS[call_axis % 4], nhwc_shape(lowerer, chain.result)) if nhwc else (call_axis % len(out), out)
    kernel = lowerer.choose(choose_concat, _joined_shapes(tensors, axis), axis, [dtype_of(t) for t in tensors])
    if kernel is not None:
        value = lowerer.call(kernel, tensors, list(out), dtype_of(tensors[0]), chain.result)
    elif nhwc:
        value = lowerer.emit(relax.op.concat(tensors, axis=axis), chain.result)
    else:
        return False
    lowerer.give(chain.result, value, nhwc=nhwc)
    return True


def _joined_shapes(tensors: Sequence[relax.Expr], axis: int) -> list[Shape]:
    """Shapes of what is joined along an axis: sizes of other axes have the names that those of the first have."""
    sizes = kernel_shape(tensors[0])
    along = [kernel_shape(tensor)[axis] for tensor in tensors]
    names = [size if isinstance(size, int) else f"part{i}" for i, size in enumerate(along)]
    return [(*sizes[:axis], name, *sizes[axis + 1 :]) for name in names]


def pad(lowerer: Lowerer, chain: Chain) -> bool:
    """Padding of pictures."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    if not lowerer.is_rank4(source) or not lowerer.has_nhwc(source):
        return False
    w = [int(x) for x in call.attrs.pad_width]
    width = [*w[0:2], *w[4:8], *w[2:4]]
    x = lowerer.nhwc(source)
    sides = list(zip(width[::2], width[1::2], strict=True))
    kernel = None
    if call.attrs.pad_mode == "constant":
        kernel = lowerer.choose(choose_pad, kernel_shape(x), sides, float(call.attrs.pad_value), dtype_of(x))
    if kernel is not None:
        out = nhwc_shape(lowerer, chain.result)
        lowerer.give_nhwc(chain.result, lowerer.call(kernel, [x], out, dtype_of(x), chain.result))
        return True
    value = relax.op.nn.pad(x, width, pad_value=call.attrs.pad_value, pad_mode=call.attrs.pad_mode)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def reshape(lowerer: Lowerer, chain: Chain) -> bool:
    """A reshape of one pixel (after global pooling) needs no transpose; a reshape to a picture of one pixel neither."""
    source = lowerer.view.value[chain.head].args[0].name
    if len(chain.members) > 1:
        return _depth_to_space(lowerer, chain, source)
    if not isinstance(lowerer.view.var[source].ty, relax.TensorType):
        return False
    value = lowerer.reshape(lowerer.logical(source), shape_of(lowerer.view.var[chain.result]), chain.result)
    lowerer.give_logical(chain.result, value)
    return True


def _depth_to_space(lowerer: Lowerer, chain: Chain, source: str) -> bool:
    """Reshape, transpose and reshape of a picture in NHWC as one kernel."""
    shuffle = shuffle_at(lowerer.view, chain.result)
    if shuffle is None or not lowerer.has_nhwc(source):
        return False
    x, out = lowerer.nhwc(source), nhwc_shape(lowerer, chain.result)
    batch, rows, columns, channels = shape_of(x)
    block = (1, *shuffle.block)
    spread = Spread(batch, (1, rows, columns), channels, block, (1, int(out[1]), int(out[2])), groups=shuffle.groups)
    kernel = depth_to_space(spread, lowerer.isa, dtype_of(x))
    lowerer.give_nhwc(chain.result, lowerer.call(kernel, [x], out, dtype_of(x), chain.result))
    return True


def split(_lowerer: Lowerer, _chain: Chain) -> bool:
    """Split gives a tuple and goes the generic way."""
    return False


def strided_slice(lowerer: Lowerer, chain: Chain) -> bool:
    """Slices of pictures."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    if not lowerer.is_rank4(source) or not lowerer.has_nhwc(source) or not isinstance(call.args[1], relax.Tuple):
        return False
    axes = [NHWC_AXIS[int(a.value) % 4] for a in call.args[1].fields]
    moved = relax.Tuple([relax.prim_value(a) for a in axes])
    value = relax.Call(call.op, [lowerer.nhwc(source), moved, *call.args[2:]], call.attrs, call.ty_args)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def resize(lowerer: Lowerer, chain: Chain) -> bool:
    """Resize of pictures."""
    call = lowerer.view.value[chain.head]
    a = call.attrs
    source, fixed = call.args[0].name, lowerer.has_fixed_sizes(chain)
    if not fixed:
        _check_dynamic_resize(lowerer, chain)
    if a.layout != "NCHW" or not lowerer.is_rank4(source) or not lowerer.has_nhwc(source):
        return False
    x, out = lowerer.nhwc(source), nhwc_shape(lowerer, chain.result)
    factors = _repeats(x.ty.shape, out) if repeats_pixels(call) else None
    if factors is not None:
        kernel = lowerer.choose(choose_repeat_pixels, kernel_shape(x), factors, dtype_of(x))
        if kernel is not None:
            lowerer.give_nhwc(chain.result, lowerer.call(kernel, [x], out, dtype_of(x), chain.result))
            return True
    value = relax.op.image.resize2d(
        x,
        call.args[1],
        roi=[float(r) for r in a.roi],
        layout="NHWC",
        method=a.method,
        coordinate_transformation_mode=a.coordinate_transformation_mode,
        rounding_method=a.rounding_method,
        cubic_alpha=float(a.cubic_alpha),
        cubic_exclude=int(a.cubic_exclude),
        extrapolation_value=float(a.extrapolation_value),
        out_dtype=a.out_dtype,
    )
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True


def _repeats(before: Sequence[Any], after: Sequence[Any]) -> tuple[int, int] | None:
    """How often rows and columns (NHWC) are there after a resize; None for more than MOST_REPEATS of free ones."""
    sides = zip(list(before)[1:3], after[1:3], strict=True)
    down, across = (
        next((n for n in range(1, MOST_REPEATS + 1) if are_equal(old * n, new)), None)
        if not (is_number(old) and is_number(new))
        else int(new) // int(old)
        for old, new in sides
    )
    return None if down is None or across is None else (down, across)


def _check_dynamic_resize(lowerer: Lowerer, chain: Chain) -> None:
    """Refuse a ratio of two dynamic sizes: TVM, which is left to compute it, has that of half pixels alone.

    raises  BuildError where it would need another one
    """
    call = lowerer.view.value[chain.head]
    a, before, after = call.attrs, sizes_of(call.args[0]), sizes_of(lowerer.view.var[chain.result])
    pairs = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    names = [f"{old} to {new}" for old, new in pairs if isinstance(old, str) and isinstance(new, str)]
    if names and a.method != "nearest_neighbor" and a.coordinate_transformation_mode in ("align_corners", "asymmetric"):
        raise BuildError(
            f"build, layer '{lowerer.view.sources(chain.result)[0]}': resize by '{a.method}' with "
            f"'{a.coordinate_transformation_mode}' from dynamic size {names[0]} cannot be compiled; fix the sizes, by "
            "shape= of from_onnx or sizes= of build"
        )


def _in_nhwc(lowerer: Lowerer, chain: Chain) -> relax.Expr | None:
    """The picture that the head reads, in NHWC; None unless it is there so and the result is a picture, too."""
    read = lowerer.view.value[chain.head].args[0]
    if not isinstance(read, relax.Var):
        return None
    source = read.name
    fits = lowerer.is_rank4(source) and lowerer.is_rank4(chain.result) and lowerer.has_nhwc(source)
    return lowerer.nhwc(source) if fits else None


def take(lowerer: Lowerer, chain: Chain) -> bool:
    """Elements of pictures along one axis, in the order of a vector of indices; rows of a packed table."""
    if take_packed_rows(lowerer, chain):
        return True
    call = lowerer.view.value[chain.head]
    indices = call.args[1]
    if call.attrs.axis is None or not isinstance(indices.ty, relax.TensorType) or indices.ty.ndim != 1:
        return False
    x = _in_nhwc(lowerer, chain)
    if x is None:
        return False
    order = lowerer.logical(indices.name) if isinstance(indices, relax.Var) else indices
    axis, out = NHWC_AXIS[int(call.attrs.axis) % 4], nhwc_shape(lowerer, chain.result)
    kernel = None
    if not lowerer.has_fixed_sizes(chain) and str(call.attrs.mode) in ("fast", "wrap"):
        kernel = lowerer.choose(choose_take, kernel_shape(x), axis, (dtype_of(x), dtype_of(order)))
    value = (
        lowerer.emit(relax.op.take(x, order, axis, mode=call.attrs.mode), chain.result)
        if kernel is None
        else lowerer.call(kernel, [x, order], out, dtype_of(x), chain.result)
    )
    lowerer.give_nhwc(chain.result, value)
    return True


def tile(lowerer: Lowerer, chain: Chain) -> bool:
    """Pictures repeated."""
    repeats = [int(r) for r in lowerer.view.value[chain.head].attrs.repeats]
    x = _in_nhwc(lowerer, chain)
    if x is None:
        return False
    n, c, h, w = [1] * (4 - len(repeats)) + repeats
    lowerer.give_nhwc(chain.result, lowerer.emit(relax.op.tile(x, [n, h, w, c]), chain.result))
    return True


def flip(lowerer: Lowerer, chain: Chain) -> bool:
    """Pictures reversed along one axis."""
    x = _in_nhwc(lowerer, chain)
    if x is None:
        return False
    axis = NHWC_AXIS[int(lowerer.view.value[chain.head].attrs.axis) % 4]
    lowerer.give_nhwc(chain.result, lowerer.emit(relax.op.flip(x, axis), chain.result))
    return True


def broadcast_to(lowerer: Lowerer, chain: Chain) -> bool:
    """Pictures of one row, column or channel repeated."""
    x = _in_nhwc(lowerer, chain)
    if x is None:
        return False
    shape = nhwc_shape(lowerer, chain.result)
    lowerer.give_nhwc(chain.result, lowerer.emit(relax.op.broadcast_to(x, shape), chain.result))
    return True


def resample(lowerer: Lowerer, chain: Chain) -> bool:
    """Weighted sums of the neighbours along an axis, in NHWC where the picture is there so."""
    call = lowerer.view.value[chain.head]
    source = call.args[0].name
    if not lowerer.is_rank4(source) or not lowerer.has_nhwc(source):
        return False
    axis = NHWC_AXIS[int(call.attrs.axis)]
    value = ops.resample(lowerer.nhwc(source), *call.args[1:], axis=axis)
    lowerer.give_nhwc(chain.result, lowerer.emit(value, chain.result))
    return True
