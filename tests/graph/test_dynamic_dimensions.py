"""Float operators of ours whose dimensions are dynamic: one compiled function, the definition's bits at every size."""

from __future__ import annotations

import numpy as np
import pytest
import tvm
from tvm import relax

from tests.graph.test_ops import assert_same_bits
from tests.support.models.built_modules import build_module
from tvmq import numerics
from tvmq.codegen.compile.vm_pipeline import compile_module
from tvmq.codegen.target.cpu import resolve_target
from tvmq.graph import ops

GAMMA = np.random.default_rng(0).standard_normal(20).astype(np.float32)
G = relax.const(GAMMA)
CASES = {
    "layer_norm": (lambda x: ops.layer_norm(x, G, G), lambda x: numerics.layer_norm(x, GAMMA, GAMMA)),
    "rms_norm": (lambda x: ops.rms_norm(x, G), lambda x: numerics.rms_norm(x, GAMMA)),
    "softmax": (lambda x: ops.softmax(x, axis=1), lambda x: numerics.softmax(x, 1)),
    "log_softmax": (lambda x: ops.log_softmax(x, axis=1), lambda x: numerics.log_softmax(x, 1)),
    "mean": (lambda x: ops.float_sum(x, axes=[1], mean=True), lambda x: numerics.float_sum(x, [1], mean=True)),
    "group_norm": (
        lambda x: ops.group_norm(relax.op.permute_dims(x, [0, 2, 1]), G, G, groups=4),
        lambda x: numerics.group_norm(x.transpose(0, 2, 1), GAMMA, GAMMA, groups=4),
    ),
}


@pytest.fixture(scope="module")
def machine() -> relax.VirtualMachine:
    """All cases, compiled at once for [n, s, 20]."""
    functions = {}
    for name, (call, _) in CASES.items():
        mod = build_module({"x": ("n", "s", 20)}, lambda _, x, call=call: call(x))
        functions[name] = mod["main"].with_attr("global_symbol", name)
    return relax.VirtualMachine(compile_module(tvm.IRModule(functions), resolve_target("llvm")).code, tvm.cpu())


@pytest.mark.slow_cases("shape0-layer_norm", "shape0-log_softmax", "shape0-group_norm")
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("shape", [(1, 7, 20), (3, 33, 20), (2, 1, 20)])
def test_equals_the_definition(machine: relax.VirtualMachine, name: str, shape: tuple[int, ...]) -> None:
    x = (np.random.default_rng(1).standard_normal(shape) * 3).astype(np.float32)
    found = machine[name](tvm.runtime.tensor(x)).numpy()
    assert_same_bits(found, np.ascontiguousarray(CASES[name][1](x)))
