"""Tensors as views of others: where the elements lie that reshapes, transposes and slices only move.

A kernel that reads at any distances needs no copy of q, k and v, whose heads lie beside each other in one tensor.

Tests: tests/codegen/lower/patterns/test_attention.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np
import tvm
from tvm import relax
from tvm.sym import Analyzer
from tvm.tirx.analysis import undefined_vars

from tvmq.codegen.kernels.attention.shape import SizeProduct, Stride
from tvmq.graph.evaluate import slice_of
from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE, SLICE, TRANSPOSE
from tvmq.graph.size_text import size_text
from tvmq.graph.view import View, op_name, sizes_of

MOVES = where(form=(RESHAPE, TRANSPOSE, SLICE))
# sizes at which distances are looked at, which show what these are products of
PRIMES = (11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89)
Sizes = tuple[int | str, ...]


@dataclass(frozen=True)
class StridedView:
    """A tensor inside another one: element i of it lies at offset + sum of i * strides, in elements of `base`.

    shape  numbers, and the text of dynamic dimensions; strides may be products of these
    """

    base: str
    offset: int
    shape: Sizes
    strides: tuple[Stride, ...]


def contiguous_view(name: str, shape: Sizes) -> StridedView:
    """A tensor as it is.

    >>> contiguous_view("x", (2, 3)).strides
    (3, 1)
    >>> contiguous_view("x", (2, "rows", 3)).strides[0]
    SizeProduct(factor=3, names=('rows',))
    """
    return StridedView(name, 0, shape, tuple(_multiply(shape[axis + 1 :]) for axis in range(len(shape))))


def _multiply(sizes: Sizes) -> Stride:
    factor = int(np.prod([size for size in sizes if isinstance(size, int)], dtype=int))
    names = tuple(sorted(size for size in sizes if isinstance(size, str)))
    return SizeProduct(factor, names) if names else factor


def strided_view(view: View, name: str, exists: Callable[[str], bool]) -> StridedView:
    """The variable as a view of the oldest existing tensor of which it is one.

    exists  False for tensors that disappear inside a kernel
    """
    path = [name]
    while _moves(view, path[-1]) and exists(view.value[path[-1]].args[0].name):
        path.append(view.value[path[-1]].args[0].name)
    path.reverse()
    while len(path) > 1 and not _has_plain_sizes(view.var[path[0]]):
        del path[0]
    own = contiguous_view(name, sizes_of(view.var[name]))
    samples = _samples([view.var[current] for current in path])
    layouts = [_layout_at(view, path, sizes) for sizes in samples]
    if not layouts or None in layouts:
        return own
    base, offset, strides = layouts[0]  # type: ignore[misc]
    products = tuple(_factorize(stride, samples[0]) for stride in strides)
    for layout, sizes in zip(layouts, samples, strict=True):
        if layout != (base, offset, tuple(_evaluate_stride(stride, sizes) for stride in products)):
            return own
    return StridedView(base, offset, own.shape, products)


def _has_plain_sizes(var: relax.Var) -> bool:
    """True where each size is a number, a name, or a sum, such as the tokens of a cache and those of a call."""
    return all(isinstance(size, tvm.tirx.IntImm | tvm.tirx.Var | tvm.tirx.Add) for size in var.ty.shape)


def _samples(tensors: Sequence[relax.Var]) -> list[dict[str, int]]:
    """Two sizes of each dynamic dimension and of each sum of them; one sample where nothing is dynamic.

    Dimensions are primes that divide no fixed one, sums have a prime factor of their own: what a distance is divisible
    by is what it is a product of. Fewer samples where there are not as many such numbers.
    """
    sizes = [size for var in tensors for size in var.ty.shape]
    names = sorted({str(var.name)[:] for size in sizes for var in undefined_vars(size)})
    numbers = [int(size) for size in sizes if isinstance(size, tvm.tirx.IntImm)]
    sums = {size_text(size): size for size in sizes if isinstance(size, tvm.tirx.Add)}
    primes = [prime for prime in PRIMES if all(number % prime for number in numbers if number)]
    count = len(names)
    if not count:
        return [{}]
    samples: list[dict[str, int]] = []
    begin = 0
    while len(samples) < 2 and begin + count <= len(primes):
        dimensions = dict(zip(names, primes[begin : begin + count], strict=True))
        sample = {text: _evaluate(size, dimensions) for text, size in sums.items()} | dimensions
        is_separate = all(_own_part(sample[text], text, sample, numbers) > 1 for text in sums)
        samples += [sample] if is_separate else []
        begin += count if is_separate else 1
    return samples if len(samples) == 2 else []


def _own_part(value: int, text: str, sample: Mapping[str, int], numbers: Sequence[int]) -> int:
    """Largest factor of a value that has no prime in common with other sizes."""
    for other in [*filter(None, numbers), *(size for name, size in sample.items() if name != text)]:
        while (common := gcd(value, other)) > 1:
            value //= common
    return value


def _factorize(stride: int, sizes: Mapping[str, int]) -> Stride:
    """The stride as a product of dynamic sizes."""
    names: list[str] = []
    for name, size in sizes.items():
        while stride and stride % size == 0:
            stride //= size
            names.append(name)
    return SizeProduct(stride, tuple(names)) if names else stride


def _evaluate_stride(stride: Stride, sizes: Mapping[str, int]) -> int:
    if isinstance(stride, int):
        return stride
    return stride.factor * int(np.prod([sizes[name] for name in stride.names], dtype=int))


def _layout_at(
    view: View, path: Sequence[str], sizes: Mapping[str, int]
) -> tuple[str, int, tuple[int, ...]] | None:
    """Base, offset and strides of the last tensor of a path at these sizes; None for sizes at which it has none."""
    shapes = {name: tuple(_evaluate(size, sizes) for size in view.var[name].ty.shape) for name in path}
    if any(size < 0 for shape in shapes.values() for size in shape):
        return None
    base = path[0]
    root = array = np.empty(shapes[base], np.int8)  # of its addresses only; nothing is read or written
    for current in path[1:]:
        moved = _moved_view(view.value[current], array, shapes[current])
        # NumPy had to copy, or the sizes of a slice depend on others: there the view begins anew
        if moved.shape != shapes[current] or not np.may_share_memory(moved, root):
            base, moved = current, np.empty(shapes[current], np.int8)
            root = moved
        array = moved
    offset = array.__array_interface__["data"][0] - root.__array_interface__["data"][0]
    return base, offset, array.strides


def _evaluate(size: tvm.ir.Expr, sizes: Mapping[str, int]) -> int:
    analyzer = Analyzer()
    for var in undefined_vars(size):
        analyzer.bind(var, tvm.tirx.IntImm(str(var.ty.dtype), sizes[str(var.name)[:]]))
    return int(analyzer.simplify(size))


def _moves(view: View, name: str) -> bool:
    value = view.value.get(name)
    return isinstance(value, relax.Call) and op_name(value) in MOVES and isinstance(value.args[0], relax.Var)


def _moved_view(call: relax.Call, array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The operator on an array, as a view where that is possible."""
    if op_name(call) == "permute_dims":
        axes = call.attrs.axes
        return np.transpose(array, None if axes is None else [int(a) for a in axes])
    if op_name(call) == "strided_slice":
        try:
            return array[slice_of(call, array.shape)]
        except TypeError:  # bounds that only a run tells
            return np.empty(shape, array.dtype)
    return array.reshape(shape)
