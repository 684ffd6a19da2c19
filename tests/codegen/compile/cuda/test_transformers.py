"""Whole transformers on the emulated GPU: softmax and norms beside products of codes, int16 residuals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import tvmq
from tests.cuda_emulator.emulate import SHUFFLED
from tests.cuda_emulator.model import EmulatedModel
from tests.passes.product_nets import attention, layer_norm
from tests.support.devices.gpu import needs_gxx
from tests.support.models.networks import Net, feeds_of

INTEGERS = {
    "residual_streams": "int16", "integer_softmax": True, "integer_layer_norm": True, "requantize": "fixed_point",
}  # fmt: skip
OPTIONS: tuple[dict[str, object], ...] = ({}, INTEGERS, {"activations": "dynamic"})


def encoder() -> Net:
    """Attention and a pair of products, each after a norm and beside a residual stream."""
    n = Net((1, 7, 12))
    x = n.op("MatMul", "x", n.constant(n.weight(12, 12)))
    y = n.op("Add", x, attention(n, layer_norm(n, x, 12), 12, 3))
    inner = n.op("Relu", n.op("MatMul", layer_norm(n, y, 12), n.constant(n.weight(12, 20))))
    y = n.op("Add", y, n.op("MatMul", inner, n.constant(n.weight(20, 12))))
    n.result = n.op("MatMul", layer_norm(n, y, 12), n.constant(n.weight(12, 5)))  # type: ignore[attr-defined]
    return n


@pytest.mark.slow
@needs_gxx
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options)) or "default")
def test_an_encoder_is_exact(options: Mapping[str, object]) -> None:
    net = encoder()
    model = net.model(net.result)  # type: ignore[attr-defined]
    feeds = feeds_of(model)
    with tvmq.qconfig(calibrate_mode="minmax", **options):  # type: ignore[arg-type]
        module = tvmq.quantize(*tvmq.from_onnx(model), None if "activations" in options else feeds, guard=None)
    emulated = EmulatedModel(module)
    expected = tvmq.reference.run(module, feeds[0])
    for found, wanted in zip(emulated.run(feeds[0], order=SHUFFLED), expected, strict=True):
        np.testing.assert_array_equal(found.view(np.uint32), np.asarray(wanted).view(np.uint32))
