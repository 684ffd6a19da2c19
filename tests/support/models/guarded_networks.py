"""Networks that 8 bits represent or destroy, samples for them, and the error of a quantized one."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

import tvmq
from tests.support.models.networks import Net

SAMPLES = 32


def healthy() -> onnx.ModelProto:
    """Two convolutions and a head."""
    net = Net((1, 3, 8, 8))
    y = net.op("Relu", net.conv(net.op("Relu", net.conv("x", 3, 8)), 8, 8))
    return net.model(net.dense(net.op("Flatten", y), 512, 5))


def small_variance() -> onnx.ModelProto:
    """Two dense layers and between them a product with E[x^2] - E[x]^2, of values far from zero; no norm."""
    net = Net((1, 16))
    x = net.op("Add", net.dense("x", 16, 32), net.constant(np.full(32, 30.0, np.float32)))
    mean = net.op("ReduceMean", x, axes=[-1], keepdims=1)
    square = net.op("ReduceMean", net.op("Mul", x, x), axes=[-1], keepdims=1)
    variance = net.op("Relu", net.op("Sub", square, net.op("Mul", mean, mean)))
    return net.model(net.dense(net.op("Mul", net.op("Sub", x, mean), variance), 32, 10))


def spectrogram() -> onnx.ModelProto:
    """Filters of sines, powers, a logarithm, and a convolution that reads it."""
    net = Net((1, 1, 512))
    time = np.arange(64) / 64
    waves = [wave(2 * np.pi * k * time) * np.hanning(64) for wave in (np.cos, np.sin) for k in range(1, 17)]
    filters = net.constant(np.float32(waves)[:, None])
    both = net.op("Conv", "x", filters, strides=[32])
    power = net.op("Mul", both, both)
    halves = [net.op("Slice", power, *(net.constant(np.int64([v])) for v in (a, a + 16, 1))) for a in (0, 16)]
    log = net.op("Log", net.op("Add", net.op("Add", *halves), net.constant(np.float32([1e-4]))))
    kernel = np.random.default_rng(3).normal(size=(8, 16, 3)).astype(np.float32) / 7
    return net.model(net.op("Conv", log, net.constant(kernel)))


def samples(model: onnx.ModelProto, seed: int = 0) -> list[dict[str, np.ndarray]]:
    """Noise, for the spectrogram over four orders of magnitude."""
    random = np.random.default_rng(seed)
    shape = tuple(d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim)
    size = 10.0 ** random.uniform(-3, 1, SAMPLES) if shape[-1] == 512 else np.ones(SAMPLES)
    return [{"x": (size[i] * random.normal(size=shape)).astype(np.float32)} for i in range(SAMPLES)]


def sqnr(model: onnx.ModelProto, module: Any) -> float:
    """SQNR of the first output on other samples than those that calibrated."""
    exe, exact = tvmq.build(module), tvmq.build(tvmq.from_onnx(model)[0], params=tvmq.from_onnx(model)[1])
    signal = noise = 0.0
    for feed in samples(model, seed=1):
        wanted, found = exact.run(feed)[0].astype(np.float64), exe.run(feed)[0]
        signal, noise = signal + float((wanted**2).sum()), noise + float(((wanted - found) ** 2).sum())
    return 10 * np.log10(signal / noise)


def levels() -> onnx.ModelProto:
    """A product of samples whose levels span four orders of magnitude, brought to one level; a second product."""
    net = Net((1, 16, 64))
    x = net.dense("x", 64, 32)
    power = net.op("ReduceMean", net.op("Mul", x, x), axes=[-1], keepdims=1)
    y = net.op("Div", x, net.op("Sqrt", net.op("Add", power, net.constant(np.float32([1e-9])))))
    return net.model(net.dense(net.op("Relu", y), 32, 256))


def leveled(seed: int = 0) -> list[dict[str, np.ndarray]]:
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(-2, 2, SAMPLES)
    return [{"x": (size[i] * random.normal(size=(1, 16, 64))).astype(np.float32)} for i in range(SAMPLES)]
