"""Products of weights in groups: the kernel against numerics.group_matmul, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
from tests.numerics.test_group_matmul import forms, multiply, operands
from tvmq.codegen.kernels.conv.group_matmul import GroupProduct, choose_group_matmul
from tvmq.codegen.kernels.isa import isa_named

LEVELS = levels("avxvnni", "avx512vnni", "avx512vbmi")
# leading axes, dynamic ones by name, and those of the run; groups, their size, columns
CASES = [((1,), (1,), 3, 32, 128), ((2, "n"), (2, 3), 2, 16, 70), ((5,), (5,), 1, 64, 65), (("n",), (1,), 4, 8, 3)]


FORMS = ["", "own", "offset", "own offset"]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("leading", "run", "groups", "size", "columns"), CASES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("level", LEVELS)
def test_equals_the_definition(
    level: str, form: str, leading: tuple[int | str, ...], run: tuple[int, ...], groups: int, size: int, columns: int
) -> None:
    rows = int(np.prod(run))
    x, x_scale, w, scale = operands(rows, groups, size, columns, 0)
    x[0, :size], w[:size, 0], w[:size, -1] = -127, -8, 7  # the largest sums
    own, offset = forms(rows, groups, columns, 0)[FORMS.index(form)]
    product = GroupProduct(leading, *w.shape, size, has_offsets=offset is not None, group_scales=own is not None)
    kernel = choose_group_matmul(product, w, scale, offset, isa_named(level))
    assert kernel is not None
    x, x_scale = x.reshape(*run, -1), (x_scale if own is None else own).reshape(*run, -1)
    found = run_kernel(kernel, (x, x_scale), level, (*run, columns))
    expected = multiply(x, x_scale, w, scale, offset, size)
    np.testing.assert_array_equal(found.view(np.int32), expected.view(np.int32))


def test_what_has_no_kernel() -> None:
    """More bits, groups of no whole blocks, CPUs without products of four bytes."""
    _, _, w, scale = operands(1, 2, 8, 5, 0)
    product, isa = GroupProduct((1,), 16, 5, 8), isa_named("avx512vnni")
    assert choose_group_matmul(product, w, scale, None, isa) is not None
    assert choose_group_matmul(product, 2 * w, scale, None, isa) is None
    assert choose_group_matmul(replace(product, size=4), w, np.repeat(scale, 2, axis=0), None, isa) is None
    assert choose_group_matmul(product, w, scale, None, isa_named("avx2")) is None
