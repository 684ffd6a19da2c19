"""The proof, from the integer module alone, that no sum of products leaves accumulators of so many bits.

Tests: tests/training/test_accumulators.py
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import tvm
from tvm import relax

from tvmq import numerics
from tvmq.errors import AccumulatorError
from tvmq.graph.analysis.core_bounds import Bounds
from tvmq.graph.module_functions import inline_functions, unpack_weights
from tvmq.graph.operators import OPERATORS
from tvmq.graph.operators.record import CONVOLUTION, TRANSPOSED
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name
from tvmq.training.accumulators import Accumulators, order_of


@dataclass(frozen=True)
class LayerSums:
    """Bound on the sums of one layer.

    layer    name of the source
    reach    largest magnitude of a partial sum, whatever the activations are
    largest  that its accumulator holds
    """

    layer: str
    reach: int
    largest: int

    @property
    def holds(self) -> bool:
        """True if the sums stay inside."""
        return self.reach <= self.largest

    def __str__(self) -> str:
        return f"layer '{self.layer}' can reach {self.reach} of {self.largest}"


def prove_accumulators(module: tvm.IRModule, accumulators: Accumulators) -> tuple[LayerSums, ...]:
    """Prove the sums of all layers with a constant integer weight: bounds on each.

    module   an integer module, of `tvmq.quantize`, `tvmq.training.convert` or a file; trained so or not
    returns  one entry for each layer whose sums are made in such accumulators, in the order of the module: of lanes
             (`products` given) those that multiply bytes, depthwise convolutions excepted
    raises   AccumulatorError that lists the layers whose sums could leave them

    >>> import io, onnx, tvmq
    >>> from tvmq.demo import load_demo
    >>> demo = load_demo()
    >>> model = tvmq.from_onnx(onnx.load(io.BytesIO(demo.model)))
    >>> qmod = tvmq.quantize(*model, [demo.calibration[:64]], target="llvm -mcpu=haswell")
    >>> all(layer.holds for layer in prove_accumulators(qmod, Accumulators(16, 2, unsigned=True)))  # weights of 7 bits
    True
    """
    layers = tuple(_sums(View(unpack_weights(inline_functions(module))), accumulators))
    beyond = [layer for layer in layers if not layer.holds]
    if beyond:
        raise AccumulatorError(
            f"training: {accumulators}: " + "; ".join(map(str, beyond)) + "; train with accumulators="
            f"{accumulators.bits}, give weights or inputs fewer bits, or keep the layer in float with a Rule"
        )
    return layers


def _sums(view: View, accumulators: Accumulators) -> Iterator[LayerSums]:
    bounds, largest = Bounds(view), 2 ** (accumulators.bits - 1) - 1
    for var, value in view.bindings:
        if not _is_weighted(value):
            continue
        layer = ", ".join(view.sources(var.name))
        if accumulators.products is None:
            yield LayerSums(layer, _of_filters(view, bounds, var.name), largest)
        elif dtype_of(value.args[0]) != "int16" and _meets_in_lanes(value):
            yield LayerSums(layer, _of_lanes(bounds, value, accumulators), largest)


def _is_weighted(value: relax.Expr) -> bool:
    """True for a product of codes and a constant weight."""
    if not isinstance(value, relax.Call) or len(value.args) < 2 or not is_const(value.args[1]):
        return False
    record = OPERATORS.get(op_name(value))
    return record is not None and record.weight_axis is not None and dtype_of(value.args[1]).startswith("int")


def _meets_in_lanes(value: relax.Call) -> bool:
    """False for one input channel a filter, and for products that attention's kernels compute."""
    is_depthwise = OPERATORS[op_name(value)].kind == CONVOLUTION and int(value.args[1].ty.shape[1]) == 1
    return op_name(value) != "tvmq.matmul" and not is_depthwise


def _of_filters(view: View, bounds: Bounds, name: str) -> int:
    """Bound on the sums of products and bias."""
    biased = [reader for reader in view.readers[name] if op_name(view.value.get(reader)) == "add"]
    reached = [bounds.reach.get(variable) for variable in (name, *biased)]
    return 2**63 if None in reached else max(reach for reach in reached if reach is not None)


def _of_lanes(bounds: Bounds, value: relax.Call, accumulators: Accumulators) -> int:
    x, weight, attrs = bounds.interval_of(value.args[0]), const_value(value.args[1]), value.attrs
    if x is None:
        return 2**63
    low, high = int(x.low.min()), int(x.high.max())
    if accumulators.unsigned:
        low, high = 0, high + (128 if dtype_of(value.args[0]) == "int8" else 0)
    record = OPERATORS[op_name(value)]
    order = order_of(
        weight.shape, (record.weight_axis or 0) % weight.ndim, accumulators, groups=int(getattr(attrs, "groups", 1)),
        transposed=record.kind == TRANSPOSED, dilated=int(list(getattr(attrs, "dilation", [1]))[-1]) > 1,
    )  # fmt: skip
    sums = numerics.sum_of_weights(order.rows(weight), together=low < 0)
    return int(np.max(sums, initial=0)) * max(high, -low)
