"""Statistics of a tensor in the layout that it has.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import math

import numpy as np

from tvmq.codegen.kernels.calibrate.observe import observe
from tvmq.codegen.lower.lowerer import TO_NHWC, Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.graph.view import dtype_of, shape_of


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower statistics of calibration to a kernel that is the same for all tensors; a picture stays in NHWC."""
    call = lowerer.view.value[chain.head]
    source, attrs = call.args[0], call.attrs
    if dtype_of(source) != "float32":
        return False
    axis, pictured = int(attrs.axis), lowerer.is_rank4(source.name) and lowerer.has_nhwc(source.name)
    x = lowerer.nhwc(source.name) if pictured else lowerer.logical(source.name)
    if pictured and axis >= 0:
        axis = TO_NHWC.index(axis)
    shape, first = shape_of(x), int(attrs.batched)
    outer, channels, inner = math.prod(shape[first:]), 1, 1
    if axis >= 0:
        outer, channels, inner = math.prod(shape[first:axis]), shape[axis], math.prod(shape[axis + 1 :])
    facts = (attrs.tensor, attrs.begin, attrs.slots, attrs.batched, attrs.counted, axis >= 0, outer, channels, inner)
    kernel = observe(np.array([int(fact) for fact in facts], np.int32), lowerer.isa)
    values = lowerer.reshape(x, [math.prod(shape)], f"{source.name}_values")
    memory = [lowerer.logical(arg.name) for arg in call.args[1:]]
    lowerer.give_logical(chain.result, lowerer.call(kernel, [values, *memory], (1,), "int32", chain.result))
    return True
