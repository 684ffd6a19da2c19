"""Memory that kernels ask the runtime for while they run, as numbers of a table of sizes.

Tests: tests/library/test_size_table.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import tvm

from tvmq.codegen.compile.kernel_scratch import Scratch
from tvmq.errors import BuildError
from tvmq.library.size_expressions import Unknown, number_of
from tvmq.library.size_table import SizeTable

BLOCK_HEAD, SLACK = 64, 128  # what the runtime's allocator needs beside the buffers


class Argument(Protocol):
    """An argument of a call: numbers of its shape, or a number."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of its sizes."""

    @property
    def offset(self) -> int:
        """The argument itself where it is a number."""


class ScratchSizes:
    """Bytes that calls of kernels need; scratch: {kernel: what it allocates}."""

    def __init__(self, table: SizeTable, scratch: Mapping[str, Scratch]) -> None:
        self._table, self._scratch = table, scratch

    def most(self, calls: Sequence[tuple[str, Sequence[Argument]]]) -> tuple[int, int]:
        """Numbers of the bytes that suffice for each of the calls, of a kernel and of each of its threads.

        raises   BuildError for a size that does not follow from the shapes of the arguments
        """
        sums = [self._sums(kernel, arguments) for kernel, arguments in calls if kernel in self._scratch]
        shared, of_threads = (self._table.maximum([one[index] for one in sums]) for index in range(2))
        return self._with_slack(shared), self._with_slack(of_threads)

    def _with_slack(self, number: int) -> int:
        return self._table.apply("add", number, SLACK) if number else 0

    def _sums(self, kernel: str, arguments: Sequence[Argument]) -> tuple[int, int]:
        scratch, table = self._scratch[kernel], self._table
        known: dict[Any, int] = {}

        def variable(var: tvm.ir.Var) -> int:
            if var not in known:
                if var in scratch.sources:
                    number, axis = scratch.sources[var]
                    argument = arguments[number]
                    known[var] = argument.offset if axis is None else argument.shape[axis]
                elif var in scratch.bound:
                    known[var] = number_of(table, scratch.bound[var], variable)
                else:
                    raise Unknown(var.name)
            return known[var]

        def aligned_sum(sizes: Sequence[Any]) -> int:
            numbers = [number_of(table, size, variable) for size in sizes]
            return table.add([table.apply("add", table.align(number), BLOCK_HEAD) for number in numbers])

        try:
            return aligned_sum(scratch.shared), aligned_sum(scratch.of_threads)
        except Unknown as error:
            raise BuildError(
                f"export_library: kernel '{kernel}' needs memory of a size that its arguments do not tell "
                f"({error.args[0]}); fix all sizes of the model with tvmq.build(..., sizes={{name: number}})"
            ) from error
