"""Products of weights in groups: the kernel against numerics.group_matmul, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
from tests.numerics.test_group_matmul import operands
from tvmq import numerics
from tvmq.codegen.kernels.conv.group_matmul import choose_group_matmul
from tvmq.codegen.kernels.isa import isa_named

LEVELS = levels("avxvnni", "avx512vnni", "avx512vbmi")
# leading axes, dynamic ones by name, and those of the run; groups, their size, columns
CASES = [((1,), (1,), 3, 32, 128), ((2, "n"), (2, 3), 2, 16, 70), ((5,), (5,), 1, 64, 65), (("n",), (1,), 4, 8, 3)]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("leading", "run", "groups", "size", "columns"), CASES)
@pytest.mark.parametrize("level", LEVELS)
def test_equals_the_definition(
    level: str, leading: tuple[int | str, ...], run: tuple[int, ...], groups: int, size: int, columns: int
) -> None:
    x, x_scale, w, scale = operands(int(np.prod(run)), groups, size, columns, 0)
    x[0, :size], w[:size, 0], w[:size, -1] = -127, -8, 7  # the largest sums
    kernel = choose_group_matmul(leading, w, scale, size, isa_named(level))
    assert kernel is not None
    x, x_scale = x.reshape(*run, -1), x_scale.reshape(*run, 1)
    found = run_kernel(kernel, (x, x_scale), level, (*run, columns))
    expected = numerics.group_matmul(x, x_scale, w, scale, group_size=size)
    np.testing.assert_array_equal(found.view(np.int32), expected.view(np.int32))


def test_what_has_no_kernel() -> None:
    """More bits, groups of no whole blocks, CPUs without products of four bytes."""
    _, _, w, scale = operands(1, 2, 8, 5, 0)
    assert choose_group_matmul((1,), w, scale, 8, isa_named("avx512vnni")) is not None
    assert choose_group_matmul((1,), 2 * w, scale, 8, isa_named("avx512vnni")) is None
    assert choose_group_matmul((1,), w, np.repeat(scale, 2, axis=0), 4, isa_named("avx512vnni")) is None
    assert choose_group_matmul((1,), w, scale, 8, isa_named("avx2")) is None
