"""Each single pass on Relay's modules: text after it, and the nodes that scripts look for in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tvm as today

from tvmq import relay
from tvmq.errors import ModelError
from tvmq.graph.module_functions import inline_functions
from tvmq.passes.integrality import integrality
from tvmq.relay import tvm

q = relay.quantize
NAME = "relay.op.annotation.simulated_quantize"
STEPS = {
    "partition": lambda mod: q.partition()(mod),
    "annotate": lambda mod: q.annotate()(mod),
    "calibrate": lambda mod: q.calibrate()(mod),
    "calibrate as a pass": lambda mod: tvm.transform.module_pass(q.calibrate(), opt_level=1)(mod),
    "_set_params": lambda mod: q._calibrate._set_params(q.annotate()(mod), lambda _: 2.0, q._calibrate._power2_scale),
    "Sequential": lambda mod: tvm.transform.Sequential([q.partition(), q.annotate()])(mod),
    "realize": lambda mod: q.realize()(q.calibrate()(mod)),
    "partition_conversions": lambda mod: q.partition_conversions(q.realize()(q.calibrate()(mod))),
    "InferType": lambda mod: relay.transform.InferType()(mod),
    "FoldConstant": lambda mod: relay.transform.FoldConstant()(mod),
    "Sequential of transform": lambda mod: relay.transform.Sequential([relay.transform.InferType()])(mod),
}


@pytest.fixture(scope="module")
def network() -> relay.IRModule:
    weight = relay.const(np.random.RandomState(0).randn(4, 4, 3, 3).astype("float32"))
    first = relay.nn.relu(relay.nn.conv2d(relay.var("x", shape=(1, 4, 6, 6)), weight))
    return q.prerequisite_optimize(relay.IRModule.from_expr(relay.nn.conv2d(first, weight)))


@pytest.fixture(scope="module")
def calibrated(network: relay.IRModule) -> relay.IRModule:
    with q.qconfig(skip_conv_layers=[]):
        return q.calibrate()(network)


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
def test_text_behind_each_pass(network: relay.IRModule, step: Any) -> None:
    with q.qconfig(skip_conv_layers=[]):
        assert "nn.conv2d(" in step(network).astext()
        assert type(step(network.relax)) is today.IRModule, "a module of Relax stays one"


def test_a_class_of_passes_keeps_the_kind(network: relay.IRModule) -> None:
    @relay.transform.module_pass(opt_level=0)
    class Twice:
        def __init__(self, times: int) -> None:
            self.times = times

        def transform_module(self, mod: Any, _context: Any) -> Any:
            return mod

    made = Twice(times=2)
    assert made.times == 2 and made.info.name == "Twice" and isinstance(made, today.transform.ModulePass)
    assert made(network).astext() == network.astext() and type(made(network.relax)) is today.IRModule


def test_simulated_quantize_is_found_by_its_name(calibrated: relay.IRModule) -> None:
    seen: list[relay.Call] = []
    relay.analysis.post_order_visit(
        calibrated["main"], lambda node: seen.append(node) if getattr(node, "op", None) == relay.op.get(NAME) else None
    )
    kinds = q.QAnnotateKind
    expected = [kinds.INPUT, kinds.WEIGHT, kinds.ACTIVATION, kinds.WEIGHT]
    assert [node.attrs.kind for node in seen] == expected
    assert all(node.op.name == NAME and node.attrs.sign and node.attrs.rounding == "round" for node in seen)
    assert relay.op.annotation.simulated_quantize(seen[0].args[0], kinds.INPUT).op == seen[0].op


@pytest.mark.slow
def test_simulated_quantize_is_read_back(calibrated: relay.IRModule) -> None:
    read = relay.parse(calibrated.astext())
    x = np.random.RandomState(1).randn(1, 4, 6, 6).astype("float32")
    results = [relay.create_executor("graph", mod).evaluate()(x).numpy() for mod in (calibrated, read)]
    assert np.array_equal(*results)
    clipped = f'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32]) {{ {NAME}(%x, 1f, -127f, 127f, kind=1) }}'
    with pytest.raises(ModelError, match="Got 4 operands; Relay's clip_min and clip_max are left out"):
        relay.parse(clipped)


@pytest.mark.slow
def test_fully_integral_resnet() -> None:
    """The input is scaled and shifted before the first convolution, in integers as well where they are required.

    test_classic_cases.py compiles one that is smaller: test_unquantizable_prefix_partition.
    """
    mod, params = relay.testing.resnet.get_workload(num_layers=8, num_classes=10, image_shape=(3, 28, 28))
    with q.qconfig(skip_conv_layers=[], skip_dense_layer=False, partition_conversions="fully_integral"):
        split = q.quantize(mod, params).relax
    assert integrality(inline_functions(split)).is_integral
