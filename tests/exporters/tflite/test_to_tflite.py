"""Networks as TFLite: on the codes of the module the runtimes' reference kernels give the codes of the definition."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from models import Net, feeds_of

import tvmq
from tvmq import reference
from tvmq.exporters.tflite.to_tflite import TFLiteExport

pytest.importorskip("tflite", reason="pip install 'tvmq[tflite]' writes TFLite files")


def quantized(model: object, feeds: list[dict[str, np.ndarray]], **options: object) -> object:
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax", partition_conversions="fully_integral", **options):
        return tvmq.quantize(mod, params, feeds, target="tflite", guard=None)


def plain(net: Net) -> str:
    x = net.op("Relu", net.conv(net.inputs[0], 3, 8))
    return net.conv(x, 8, 4, kernel=1)


def strided(net: Net) -> str:
    x = net.op("Relu", net.conv(net.inputs[0], 3, 8, strides=[2, 2]))
    x = net.op("Clip", net.conv(x, 8, 8, groups=8, pads=[0, 0, 1, 1], strides=[2, 2]), net.constant(np.float32(0)),
               net.constant(np.float32(1.5)))  # fmt: skip
    return net.conv(x, 8, 16, dilations=[2, 2], pads=[2, 2, 2, 2], groups=4)


def residual(net: Net) -> str:
    x = net.op("Relu", net.conv(net.inputs[0], 3, 8))
    y = net.op("Relu", net.op("Add", net.conv(x, 8, 8), x))
    return net.op("Sub", net.conv(y, 8, 8, kernel=1), y)


def pooled(net: Net) -> str:
    x = net.op("MaxPool", net.conv(net.inputs[0], 3, 6), kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    x = net.op("AveragePool", net.conv(x, 6, 6), kernel_shape=[2, 3], strides=[1, 1])
    return net.dense(net.op("Flatten", net.op("GlobalAveragePool", x)), 6, 5)


def flattened(net: Net) -> str:
    x = net.op("Relu", net.conv(net.inputs[0], 3, 4, strides=[2, 2]))
    return net.dense(net.op("Flatten", x), 64, 10)


def joined(net: Net) -> str:
    a, b = net.op("Relu", net.conv(net.inputs[0], 3, 4)), net.op("Sigmoid", net.conv(net.inputs[0], 3, 4, kernel=1))
    x = net.op("Concat", a, b, axis=1)
    x = net.op("Resize", x, "", net.constant(np.float32([1, 1, 2, 2])), mode="nearest", nearest_mode="floor",
               coordinate_transformation_mode="asymmetric")  # fmt: skip
    return net.conv(x, 8, 4)


def gated(net: Net) -> str:
    x = net.op("Relu", net.conv(net.inputs[0], 3, 8))
    s = net.op("Sigmoid", net.conv(net.op("GlobalAveragePool", x), 8, 8, kernel=1, pads=[0, 0, 0, 0]))
    return net.conv(net.op("Mul", x, s), 8, 4)


def activated(net: Net) -> str:
    x = net.op("HardSwish", net.conv(net.inputs[0], 3, 6))
    x = net.op("LeakyRelu", net.conv(x, 6, 6), alpha=0.1)
    return net.op("Tanh", net.conv(x, 6, 4))


NETWORKS: dict[str, Callable[[Net], str]] = {
    function.__name__: function for function in (plain, strided, residual, pooled, flattened, joined, gated, activated)
}


def made(name: str, folder: Path) -> tuple[TFLiteExport, list[tuple[list[np.ndarray], list[np.ndarray]]]]:
    """The file, and codes in and out of the core by the definition."""
    net = Net((1, 3, 8, 8), seed=len(name))
    model = net.model(NETWORKS[name](net))
    feeds = feeds_of(model, 8)
    qmod = quantized(model, feeds)
    export = tvmq.to_tflite(qmod, folder / "model.tflite")
    compared = []
    for feed in feeds[:3]:
        codes = reference.run(qmod, feed, function="quantize_inputs")
        compared.append((codes, reference.run(qmod, codes, function="quantized_main")))
    return export, compared


@pytest.mark.parametrize("name", NETWORKS)
def test_codes_of_the_runtimes(name: str, tmp_path: Path) -> None:
    runtimes = pytest.importorskip("tflite_runtimes")
    pytest.importorskip("ai_edge_litert", reason="pip install ai-edge-litert runs TFLite files")
    pytest.importorskip("tflite_micro", reason="pip install tflite-micro runs TFLite files")
    export, compared = made(name, tmp_path)
    data = export.path.read_bytes()
    with runtimes.silent():
        interpreters = {
            "LiteRT": (runtimes.litert(data), runtimes.run_litert), "micro": (runtimes.micro(data), runtimes.run_micro)
        }  # fmt: skip
    for codes, wanted in compared:
        given = [end.to_file(array) for end, array in zip(export.inputs, codes, strict=True)]
        for tool, (interpreter, run) in interpreters.items():
            (found,) = run(interpreter, given)
            np.testing.assert_array_equal(export.outputs[0].from_file(found), wanted[0], err_msg=tool)
