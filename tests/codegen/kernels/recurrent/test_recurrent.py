"""Recurrent layers: the kernel against numerics.recurrent, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.harness import compile_function, levels
from tests.codegen.kernels.recurrent.cases import CASES, Case
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.recurrent.recurrent import recurrent

LEVELS = levels("generic", "avx2", "avx512bw", "avxvnni", "avx512vnni")


@pytest.mark.slow_cases("generic-lstm-options0-False")
@pytest.mark.thinned(12)
@pytest.mark.parametrize("is_codes", [False, True])
@pytest.mark.parametrize(("kind", "options"), CASES)
@pytest.mark.parametrize("level", LEVELS)
def test_equals_the_definition(level: str, kind: str, options: dict[str, Any], is_codes: bool) -> None:
    case = Case.of(kind, options, is_codes=is_codes)
    kernel = recurrent(case.layer, isa_named(level), case.weight, case.terms, case.scale)
    y = np.full(case.shape, 77, np.float32)
    tensors = [tvm.runtime.tensor(array) for array in (*case.inputs, *kernel.constants, y)]
    compile_function(kernel.name, kernel.func, level)(*tensors)
    np.testing.assert_array_equal(tensors[-1].numpy().view(np.int32), case.expected().view(np.int32))
