"""Recurrent layers on GPUs: the kernel against numerics.recurrent, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm

from tests.codegen.kernels.recurrent.cases import CASES, Case
from tests.cuda_emulator.emulate import FORWARD, REVERSE, SHUFFLED, run_in_orders
from tests.cuda_emulator.library import missing_compiler
from tvmq.codegen.compile.cuda.source import our_sources
from tvmq.codegen.kernels.cuda.recurrent import recurrent
from tvmq.codegen.schedule.cuda.intrinsics import exact_floats

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
ORDERS = (FORWARD, REVERSE, SHUFFLED)
MORE_THAN_THREADS: tuple[str, dict[str, Any]] = ("lstm", {"hidden": 275, "lengths": "one", "batch": 2})


@pytest.mark.slow
@pytest.mark.thinned(3)
@pytest.mark.parametrize("is_codes", [False, True])
@pytest.mark.parametrize(("kind", "options"), [*CASES, MORE_THAN_THREADS])
def test_equals_the_definition(kind: str, options: dict[str, Any], is_codes: bool) -> None:
    case = Case.of(kind, options, is_codes=is_codes)
    kernel = recurrent(case.layer, case.weight, case.terms, case.scale)
    target = tvm.target.Target({"kind": "cuda", "arch": "sm_80"}, host={"kind": "llvm", "mcpu": "generic"})
    func = exact_floats(kernel.func)  # as a build does
    with our_sources():
        results = run_in_orders(func, [*case.inputs, *kernel.constants], target, ORDERS, shape=case.shape)
    for found in results:
        np.testing.assert_array_equal(found.view(np.int32), case.expected().view(np.int32))
