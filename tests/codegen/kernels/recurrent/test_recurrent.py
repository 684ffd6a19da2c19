"""Recurrent layers: the kernel against numerics.recurrent, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.codegen.kernels.harness import levels, run_kernel
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
    found = run_kernel(kernel, case.inputs, level, case.shape)
    np.testing.assert_array_equal(found.view(np.int32), case.expected().view(np.int32))
