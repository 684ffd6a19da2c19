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

pytestmark = pytest.mark.skipif(bool(missing_compiler()), reason=missing_compiler())
NAMES = ("integer_softmax_0", "integer_layer_norm_0", "masked_mean_0", "add_mask_int64")


def module_of_all() -> tvm.IRModule:
    """A module whose single function computes all cases, because compilation takes most of the time."""
    params, results = [], []
    builder = relax.BlockBuilder()
    for name in NAMES:
        arrays = CASES[name].inputs.items()
        params.append([relax.Var(f"{name}_{k}", relax.TensorType(a.shape, str(a.dtype))) for k, a in arrays])
    with builder.function("main", [param for group in params for param in group]):
        with builder.dataflow():
            for name, group in zip(NAMES, params, strict=True):
                results.append(builder.emit(CASES[name].call(*group), f"{name}_result"))
            result = builder.emit_output(relax.Tuple(results))
        builder.emit_func_output(result)
    return builder.get()


@pytest.mark.slow
def test_a_gpu_gives_the_definition() -> None:
    feed = {f"{name}_{key}": array for name in NAMES for key, array in CASES[name].inputs.items()}
    found = EmulatedModel(module_of_all()).run(feed, order=SHUFFLED)
    for name, array in zip(NAMES, found, strict=True):
        np.testing.assert_array_equal(array, CASES[name].expected(*CASES[name].inputs.values()), err_msg=name)
