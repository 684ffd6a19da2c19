"""Shorthands for PrimFuncs that run on a GPU; they add to those of kernels/parts/builder.py.

Facts of TVM 0.27 that the shorthands hide: loops marked "unroll" are written out in the source, unless an attribute
leaves them to nvcc as `#pragma unroll`; names are numbers unless given; shared memory in one buffer of bytes can
serve several purposes in turn; a call of an extern function with the address of an element is nothing that TVM
orders or synchronizes, so kernels do that themselves.

Tests: tests/codegen/kernels/cuda/test_cuda_batch_matmul.py
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from types import TracebackType
from typing import Any

from tvm import tirx
from tvm.script.ir_builder import IRBuilder
from tvm.script.ir_builder import tirx as T

from tvmq.codegen.kernels.cuda.tile import STATIC_SHARED
from tvmq.codegen.kernels.parts.builder import Buffer, Expr, FunctionBuilder, Shape, bind, const, flatten_buffer

WARP = 32


def name_value(name: str, value: Any) -> Any:
    """The value (variable, buffer, loop index) under a name in the generated source."""
    IRBuilder.name(name, value)
    return value


class CudaFunction(FunctionBuilder):
    """A PrimFunc that is one kernel launch; its statements are written inside the `with` block.

    blocks, threads  size of the grid (x, y), x a number or the name of a dynamic size, and threads of a block
    block, thread    indices: (x, y) of the block, and the thread in it
    """

    def __init__(
        self, name: str, buffers: Mapping[str, tuple[Shape, str]], blocks: tuple[int | str, int], threads: int
    ) -> None:
        super().__init__(name, buffers)
        self._blocks, self._threads = blocks, threads
        self._inner = ExitStack()
        self.block: tuple[Expr, Expr] = (0, 0)
        self.thread: Expr = 0

    def __enter__(self) -> CudaFunction:
        super().__enter__()
        for buffer in self.buffers:
            IRBuilder.name(buffer.name, buffer)
        self._inner.enter_context(T.attr(const(0), "pragma_unroll_explicit", const(0)))
        x, y = self._blocks
        extent = self.sizes[x] if isinstance(x, str) else x
        column = self._inner.enter_context(T.launch_thread("blockIdx.x", extent))
        row = self._inner.enter_context(T.launch_thread("blockIdx.y", y)) if y > 1 else 0
        self.block = (column, row)
        self.thread = self._inner.enter_context(T.launch_thread("threadIdx.x", self._threads))
        return self

    def flat_views(self, names: Iterable[str]) -> dict[str, Buffer]:
        """Views in one dimension of the parameters, which have these names in the generated source."""
        return {name: name_value(name, flatten_buffer(b)) for name, b in zip(names, self.buffers, strict=True)}

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.close()
        super().__exit__(kind, error, trace)


def allocate_shared(name: str, size: int) -> Buffer:
    """Shared memory of so many bytes, int8; the last one is not the kernel's (see `reserve`).

    TVM asks the driver for more than every GPU grants where it launches the kernel.
    """
    scope = "shared" if size <= STATIC_SHARED else "shared.dyn"
    buffer = name_value(name, T.alloc_buffer((size,), "int8", scope=scope))
    reserve(buffer, size)
    return buffer


def allocate_registers(name: str, size: int, dtype: str = "int32") -> Buffer:
    """An array of the thread; nvcc keeps it in registers if all indices are known once loops are unrolled."""
    return name_value(name, T.alloc_buffer((size,), dtype, scope="local"))


def reserve(buffer: Buffer, size: int) -> None:
    """Store into the last element: TVM cuts arrays behind the last one that it sees used.

    It does not see what device functions do with an address; nvcc drops the store to a register.
    """
    put(buffer, size - 1, 0)


def view_as_int32(buffer: Buffer, size: int) -> Buffer:
    """The memory of a buffer of bytes as int32."""
    return T.decl_buffer((size,), "int32", data=buffer.data, scope=buffer.scope())


def view_as_int16(buffer: Buffer, size: int) -> Buffer:
    """Shared memory as int16."""
    return T.decl_buffer((size,), "int16", data=buffer.data, scope=buffer.scope())


def move(target: Buffer, at: Expr, source: Buffer, begin: Expr, size: int) -> None:
    """Copy 1, 2 or 4 words of flat buffers of int32 at once."""
    if size == 1:
        put(target, at, source[begin])
    else:
        T.buffer_store(target, source.vload([begin], f"int32x{size}"), [T.ramp(at, 1, size)])


def synchronize() -> None:
    """All threads of the block arrive, and see each other's shared memory."""
    T.evaluate(T.tvm_storage_sync("shared"))


def call(dtype: str, name: str, *arguments: Expr) -> Expr:
    """Value of a device function without side effects."""
    return T.call_pure_extern(dtype, name, *arguments)


def run(name: str, *arguments: Expr) -> None:
    """Call of a device function for its effects."""
    T.evaluate(T.call_extern("void", name, *arguments))


def address(buffer: Buffer, offset: Expr) -> Expr:
    """Pointer to an element of a flat buffer."""
    return T.address_of(buffer[offset])


def put(buffer: Buffer, offset: Expr, value: Expr) -> None:
    """Store one element of a flat buffer."""
    T.buffer_store(buffer, const(value, str(buffer.dtype)) if isinstance(value, int) else value, [offset])


@contextmanager
def unroll(count: int, name: str) -> Iterator[Expr]:
    """A loop that nvcc unrolls; no loop at all if it runs once."""
    if count == 1:
        yield 0
        return
    with T.unroll(count) as index:
        yield name_value(name, index)


@contextmanager
def where(condition: Expr) -> Iterator[None]:
    """Statements under a condition; True means no condition."""
    if condition is True:
        yield
        return
    with T.If(condition), T.Then():
        yield


def join_conditions(*conditions: Expr) -> Expr:
    """All conditions; those that are True fall away."""
    rest = [condition for condition in conditions if condition is not True]
    result: Expr = True
    for condition in rest:
        result = condition if result is True else tirx.all(result, condition)
    return result


def value_of(name: str, value: Expr) -> Expr:
    """A named variable that holds the value; a Python number stays one."""
    return value if isinstance(value, int) else name_value(name, bind(value))
