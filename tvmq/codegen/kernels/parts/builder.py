"""Shorthands for writing PrimFuncs by hand: functions, vector loads and stores, registers, balanced loops.

Facts of TVM 0.27 that the shorthands hide: a buffer of scope "global" below 1024 bytes is a stack slot that
LLVM turns into a register (scope "local" goes to the heap); an expression used twice is computed twice unless
bound; a multiply that feeds an add is fused into one rounding unless a fence keeps them apart; int32 `+` and
`*` must not wrap.

Tests: tests/codegen/kernels/parts/test_float_steps.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import tvm
from tvm import tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

Expr = Any  # a TIR expression or a Python int
Shape = tuple[int | str, ...]  # a name is a size that only a run tells, int32, equal wherever it stands
Buffer = Any


def shape_of_sizes(sizes: Sequence[Any]) -> Shape:
    """A shape of ints, and of names of what only a run tells."""
    return tuple(size if isinstance(size, str) else int(size) for size in sizes)


class FunctionBuilder:
    """A PrimFunc in the making; its statements are written inside the `with` block.

    with FunctionBuilder("copy", {"x": ((2, 8), "uint8"), "y": ((2, 8), "uint8")}) as function:
        x, y = (flat(buffer) for buffer in function.buffers)
        store(y, 0, load(x, 0, "uint8x16"))
    function.prim_func
    """

    def __init__(self, name: str, buffers: Mapping[str, tuple[Shape, str]], *, unaligned: tuple[str, ...] = ()) -> None:
        """unaligned: parameters that may begin at any element, not at multiples of 64 bytes only."""
        self.name, self._unaligned = name, unaligned
        self.prim_func: Any = None
        self.buffers: list[Buffer] = []
        self.sizes: dict[str, Expr] = {}
        self._parameters = buffers
        self._builder = IRBuilder()
        self._frame = T.prim_func(s_tir=True)

    def __enter__(self) -> FunctionBuilder:
        self._builder.__enter__()
        self._frame.__enter__()
        T.func_name(self.name)
        T.func_attr({"global_symbol": self.name, "tirx.noalias": True})
        names = {size for shape, _ in self._parameters.values() for size in shape if isinstance(size, str)}
        symbols = {name: tirx.Var(name, "int64") for name in sorted(names)}
        for name, (shape, dtype) in self._parameters.items():
            dims = [symbols.get(size, size) if isinstance(size, str) else size for size in shape]
            alignment = tvm.DataType(dtype).itemsize if name in self._unaligned else 0  # 0: as TVM has it, 64
            self.buffers.append(T.arg(name, T.buffer(dims, dtype, align=alignment)))
        self.sizes = {name: bind(T.Cast("int32", size)) for name, size in symbols.items()}
        return self

    def count(self, shape: Shape) -> Expr:
        """Number of elements, an int where no size is dynamic."""
        count: Expr = 1
        for size in shape:
            count = count * (self.sizes[size] if isinstance(size, str) else size)
        return bind_size(count)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._frame.__exit__(kind, error, trace)
        self._builder.__exit__(kind, error, trace)
        if kind is None:
            self.prim_func = self._builder.get()


def const(value: int | float, dtype: str = "int32") -> Expr:
    """A scalar constant."""
    return tirx.const(value, dtype)


def spread(value: Expr, lanes: int, dtype: str = "int32") -> Expr:
    """The value in all lanes; a Python number is taken as `dtype`."""
    scalar = tirx.const(value, dtype) if isinstance(value, (int, float)) else value
    return T.broadcast(scalar, lanes) if lanes > 1 else scalar


def vector_type(dtype: str, lanes: int) -> str:
    """Type name of a vector: "uint8x16", or "uint8" for one lane."""
    return f"{dtype}x{lanes}" if lanes > 1 else dtype


def bind(value: Expr) -> Expr:
    """A variable that holds the value: for everything used more than once."""
    return T.Bind(value)


def llvm(dtype: str, name: str, *arguments: Expr) -> Expr:
    """Call of an LLVM intrinsic without side effects; the target must have it, or LLVM aborts the process."""
    return T.call_llvm_pure_intrin(dtype, name, *arguments)


def wrapping_operation(operation: str, a: Expr, b: Expr, lanes: int) -> Expr:
    """a `operation` b of int32 lanes modulo 2^32; "add", "sub" or "mul".

    TVM's own + and * promise LLVM that nothing wraps; a predicated operation on all lanes promises nothing and is the
    same instruction.
    """
    kind, mask = vector_type("int32", lanes), T.broadcast(tirx.const(True, "bool"), lanes)
    return bind(llvm(kind, f"llvm.vp.{operation}.v{lanes}i32", a, b, mask, const(lanes)))


def fence(value: Expr) -> Expr:
    """The value, never contracted with the operation that uses it (product and sum round separately)."""
    return T.call_llvm_pure_intrin(
        value.ty.dtype if hasattr(value, "ty") else value.dtype, "llvm.arithmetic.fence", value
    )


def flatten_buffer(buffer: Buffer, dtype: str | None = None) -> Buffer:
    """View of the memory as a one-dimensional buffer; `dtype` (of equal width) reads it as another type."""
    size = math.prod(int(extent) if isinstance(extent, tirx.IntImm | int) else extent for extent in buffer.shape)
    return T.decl_buffer((size,), dtype or str(buffer.dtype), data=buffer.data)


def load(buffer: Buffer, offset: Expr, dtype: str) -> Expr:
    """Bound value of a vector (or scalar) at `offset`, in elements, of a flat buffer."""
    return T.Bind(buffer.vload([offset], dtype))


def store(buffer: Buffer, offset: Expr, value: Expr, lanes: int) -> None:
    """Store a vector of `lanes` elements at `offset` of a flat buffer."""
    T.buffer_store(buffer, value, [T.ramp(offset, 1, lanes) if lanes > 1 else offset])


def slice_lanes(vector: Expr, begin: int, count: int) -> Expr:
    """Lanes begin .. begin + count of a vector."""
    return tirx.Shuffle([vector], [tirx.const(begin + lane, "int32") for lane in range(count)])


def store_first(buffer: Buffer, offset: Expr, vector: Expr, lanes: int, count: int, begin: int = 0) -> None:
    """Store `count` of the `lanes` lanes, from lane `begin`, in pieces of 2^n; nothing else is touched."""
    if begin == 0 and count == lanes:
        store(buffer, offset, vector, lanes)
        return
    vector, done = bind(vector), 0
    while done < count:
        piece = 1 << ((count - done).bit_length() - 1)
        store(buffer, offset + done, slice_lanes(vector, begin + done, piece), piece)
        done += piece


def prefetch(buffer: Buffer, offset: Expr, locality: int = 3) -> None:
    """Ask for the cache line of an element, for reading; locality: 3 into the nearest cache, 2 into the second."""
    zero, level, one = (tirx.const(value, "int32") for value in (0, locality, 1))
    T.evaluate(T.call_llvm_intrin("void", "llvm.prefetch.p0", T.address_of(buffer[offset]), zero, level, one))


def align_stack(lanes: int) -> None:
    """Begin the frame of the function, or of the parallel region, that this stands in at whole cache lines.

    Registers that LLVM runs out of go to the stack, which is aligned to 16 bytes unless a variable asks for more: then
    most of these vectors lie across two lines, and reading them takes twice as long. LLVM decides before it knows that
    it will run out; the prefetch keeps it from removing the variable.
    """
    anchor = T.alloc_buffer((1,), vector_type("int32", lanes))
    prefetch(anchor, 0)


class Register:
    """A variable that holds one vector; only whole vectors are read and written."""

    def __init__(self, dtype: str, lanes: int) -> None:
        self._buffer = T.alloc_buffer((lanes,), dtype)
        self._type, self._lanes = vector_type(dtype, lanes), lanes

    def get(self) -> Expr:
        """The value."""
        return self._buffer.vload([0], self._type)

    def set(self, value: Expr) -> None:
        """Replace the value."""
        store(self._buffer, 0, value, self._lanes)


def widen_index(offset: Expr) -> Expr:
    """The offset as int64, for addresses in inner loops.

    LLVM sign-extends an int32 index at every use; TVM narrows int64 indices to int32 unless they
    come from memory.
    """
    register = Register("int64", 1)
    register.set(T.Cast("int64", offset))
    return register.get()


def workspace(size: Expr, dtype: str) -> Buffer:
    """Scratch memory of `size` elements for the enclosing block; each iteration of a loop has its own."""
    # at least 1024 bytes: below that TVM makes a stack slot
    return T.alloc_buffer((max(size, 1024) if isinstance(size, int) else size + 1024,), dtype)


def split_evenly(total: int, step: int) -> list[tuple[int, int]]:
    """Cut `total` into ceil(total / step) nearly equal parts: [(size, count), ...], larger first.

    >>> split_evenly(49, 6), split_evenly(48, 6)
    ([(6, 4), (5, 5)], [(6, 8)])
    """
    parts = -(-total // step)
    small, larger = divmod(total, parts)
    return [(size, count) for size, count in ((small + 1, larger), (small, parts - larger)) if count]


def over(parts: list[tuple[int, int]], body: Callable[[Expr, int], None]) -> None:
    """Call body(offset, size) in one loop for each size of `split_evenly`."""
    base = 0
    for size, count in parts:
        with T.serial(0, count) as index:
            body(index * size + base, size)
        base += size * count


def over_range(parts: list[tuple[int, int]], begin: Expr, end: Expr, body: Callable[[Expr, int, Expr], None]) -> None:
    """Like `over` for parts begin .. end, counted through all sizes; body(offset, size, index from begin)."""
    base = first = 0
    for size, count in parts:
        low, high = limit(begin - first, count), limit(end - first, count)
        with T.serial(low, high) as index:
            body(index * size + base, size, index + first - begin)
        base, first = base + size * count, first + count


def bind_size(value: Expr) -> Expr:
    """A number as it is, an expression as a variable."""
    return value if isinstance(value, int) else bind(value)


def ceildiv(value: Expr, divisor: int) -> Expr:
    """Quotient rounded up: a Python int, or a variable."""
    return -(-value // divisor) if isinstance(value, int) else bind(T.floordiv(value + (divisor - 1), divisor))


def branch(condition: Expr, then: Callable[[], None], otherwise: Callable[[], None]) -> None:
    """The statements of one of both; of both, behind a test, where only a run knows the condition."""
    if isinstance(condition, bool):
        (then if condition else otherwise)()
        return
    with T.If(condition):
        with T.Then():
            then()
        with T.Else():
            otherwise()


def minimum(value: Expr, most: Expr) -> Expr:
    """The smaller one; a Python int if the value is one."""
    return min(value, most) if isinstance(value, int) else T.min(value, most)


def quotient(value: Expr, divisor: int) -> Expr:
    """Floor of value / divisor; a Python int if the value is one."""
    return value // divisor if isinstance(value, int) else T.floordiv(value, divisor)


def remainder(value: Expr, divisor: int) -> Expr:
    """Value less divisor times `quotient`."""
    return value % divisor if isinstance(value, int) else T.floormod(value, divisor)


def limit(value: Expr, most: int) -> Expr:
    """The value, at least 0 and at most `most`."""
    return min(max(value, 0), most) if isinstance(value, int) else T.min(T.max(value, 0), most)
