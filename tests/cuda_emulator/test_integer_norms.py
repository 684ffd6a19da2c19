"""Softmax, norms, masks and masked means in integers on a GPU: plain 64-bit arithmetic, the bits of the definition."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.cuda_emulator.emulate import SHUFFLED
from tests.cuda_emulator.library import missing_compiler
from tests.cuda_emulator.model import EmulatedModel
from tests.graph.op_cases import CASES
from tests.support.models.built_modules import build_module

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
NAMES = ("integer_softmax_0", "integer_layer_norm_0", "masked_mean_0", "add_mask_int64")
FEED = {f"{name}_{key}": array for name in NAMES for key, array in CASES[name].inputs.items()}


def module_of_all() -> tvm.IRModule:
    """A module whose single function computes all cases, because compilation takes most of the time."""

    def body(builder: relax.BlockBuilder, *params: relax.Var) -> list[relax.Expr]:
        left = iter(params)
        return [builder.emit(CASES[name].call(*(next(left) for _ in CASES[name].inputs)), f"{name}_result") for name in NAMES]

    return build_module(FEED, body)


@pytest.mark.slow
def test_a_gpu_gives_the_definition() -> None:
    found = EmulatedModel(module_of_all()).run(FEED, order=SHUFFLED)
    for name, array in zip(NAMES, found, strict=True):
        np.testing.assert_array_equal(array, CASES[name].expected(*CASES[name].inputs.values()), err_msg=name)
