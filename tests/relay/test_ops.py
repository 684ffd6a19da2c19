"""Every operator, compiled in float, gives what NumPy gives."""

from __future__ import annotations

import platform

import numpy as np
import pytest

import tvmq
from tests.relay import more_cases as more
from tests.relay.cases import ELEMENTWISE, INPUTS, MOVES, NN, Case
from tvmq import relay
from tvmq.relay.op import registry

GROUPS = {"nn": {**NN, **more.NN}, "elementwise": {**ELEMENTWISE, **more.ELEMENTWISE}, "moves": {**MOVES, **more.MOVES}}


@pytest.fixture(scope="module", params=GROUPS)
def compiled(request) -> tuple[dict[str, Case], dict[str, np.ndarray]]:
    """A group's cases and what one compiled module gives for them."""
    cases = GROUPS[request.param]
    variables = [relay.var(name, shape=array.shape, dtype=str(array.dtype)) for name, array in INPUTS.items()]
    results = relay.Tuple([relay_of(*variables) for relay_of, _ in cases.values()])
    mod = relay.IRModule.from_expr(relay.Function(variables, results))
    # Loops of TVM are compiled fast; kernels of ours for every x86 CPU, which takes half of the time
    nn = "llvm -mcpu=x86-64" if platform.machine() == "x86_64" else "llvm"
    target = nn if request.param == "nn" else "llvm -opt-level=0"
    outputs = tvmq.build(mod, target).run(INPUTS)
    return cases, dict(zip(cases, outputs, strict=True))


@pytest.mark.slow_cases("nn", "elementwise")
def test_operators_give_what_numpy_gives(compiled):
    cases, outputs = compiled
    wrong = []
    for name, (_, numpy_of) in cases.items():
        expected = np.asarray(numpy_of(*INPUTS.values()))
        found = np.asarray(outputs[name])
        if found.shape != expected.shape or not np.allclose(found, expected, rtol=1e-4, atol=1e-5):
            wrong.append((name, found.shape, expected.shape))
        elif expected.dtype.kind in "iub":
            assert found.dtype == expected.dtype and np.array_equal(found, expected), name
    assert not wrong


def test_every_operator_has_a_case():
    variables = [relay.var(name, shape=array.shape, dtype=str(array.dtype)) for name, array in INPUTS.items()]
    calls = [relay_of(*variables) for cases in GROUPS.values() for relay_of, _ in cases.values()]
    called = {name for call in calls for name in relay.testing.count_ops(call)}
    assert {name for name in registry.names() if not name.startswith("qnn.")} <= called  # those: test_qnn.py
