"""Rules of requantization that kernels of LiteRT and tflite-micro follow: single operators on random codes.

    pip install "tvmq[tflite]" ai-edge-litert tflite-micro
    python benchmarks/litert_kernels.py

Each operator is one convolution or product of known sums; every result is compared with that of four rules of
requantization (numerics/requantize_rule.py). Kernels: LiteRT's reference, its own optimized ones (no delegate), what it
takes by itself (XNNPACK), and tflite-micro's.

Bound: convolutions of the reference and of tflite-micro have TFLite's rule.  Exit code 1 where they have not.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness.command import Command
from harness.report import columns

from tests.support.devices import tflite_runtimes as runtimes
from tvmq.formats.tflite.flatbuffer import Flatbuffer, Quantization
from tvmq.numerics.requantize_rule import RequantizeRule, apply

SX, ZX, SY, ZY = np.float32(0.037), 5, np.float32(0.11), -20
DEPTH, FILTERS, SIDE = 16, 32, 64
RULES = {
    "twice: up, away": RequantizeRule("integer", roundings=("upward", "away")),
    "twice: up, up": RequantizeRule("integer", roundings=("upward", "upward")),
    "once: up": RequantizeRule("integer", roundings=("upward",)),
    "float32: even": RequantizeRule(),
}
KERNELS = ("LiteRT reference", "LiteRT, no delegate", "LiteRT usual", "tflite-micro")


def made(code: str, random: np.random.Generator) -> tuple[bytes, tuple[int, ...], np.ndarray, np.ndarray, np.ndarray]:
    """The file of one operator, the shape that it reads, its weight (filters, depth), bias and factors."""
    file, filters = Flatbuffer(), DEPTH if code == "DEPTHWISE_CONV_2D" else FILTERS
    scales = random.uniform(0.004, 0.05, filters).astype(np.float32)
    weight = random.integers(-127, 128, (filters, DEPTH)).astype(np.int8)
    bias = random.integers(-3000, 3000, filters).astype(np.int32)
    rows = code == "FULLY_CONNECTED"
    shape = (SIDE * SIDE, DEPTH) if rows else (1, SIDE, SIDE, DEPTH)
    x = file.tensor("x", shape, "int8", Quantization((float(SX),), ZX))
    y = file.tensor("y", (*shape[:-1], filters), "int8", Quantization((float(SY),), ZY))
    values, axis = weight if rows else weight.reshape(filters, 1, 1, DEPTH), 0
    if code == "DEPTHWISE_CONV_2D":
        values, axis = np.ascontiguousarray(np.diagonal(weight)).reshape(1, 1, 1, DEPTH), 3
        weight = np.diag(np.diagonal(weight))
    w = file.constant("w", values, Quantization(tuple(map(float, scales)), 0, axis))
    b = file.constant("b", bias, Quantization(tuple(float(s) for s in SX * scales)))
    options: dict[str, Any] = {"fused_activation_function": 0}
    if rows:
        file.operator(code, [x, w, b], [y], version=12, table="FullyConnectedOptions", **options)
    else:
        options |= {"padding": 1, "stride_w": 1, "stride_h": 1, "dilation_w_factor": 1, "dilation_h_factor": 1}
        table = {"CONV_2D": "Conv2DOptions", "DEPTHWISE_CONV_2D": "DepthwiseConv2DOptions"}[code]
        options |= {"depth_multiplier": 1} if axis == 3 else {}
        file.operator(code, [x, w, b], [y], version=3, table=table, **options)
    factor = np.float64(SX) * scales.astype(np.float64) / np.float64(SY)
    return file.pack({"x": x}, {"y": y}), shape, weight, bias, factor


def interpreters(data: bytes) -> dict[str, Any]:
    """{kernels: a function from codes to results}."""
    found = [runtimes.litert(data, kernels=kind) for kind in ("reference", "own", "usual")]
    micro = runtimes.micro(data)
    runs = [lambda x, one=one: runtimes.run_litert(one, [x])[0] for one in found]
    return dict(zip(KERNELS, [*runs, lambda x: runtimes.run_micro(micro, [x])[0]], strict=True))


COLUMNS = (
    *columns("operator {operator} | kernels {kernels} | values {values}"),
    *((name, lambda row, name=name: str(row[name])) for name in RULES),
)


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """Run, compare with every rule."""
    random = np.random.default_rng(0)
    for code in options.tasks.split(","):
        data, shape, weight, bias, factor = made(code, random)
        with runtimes.silent():
            runs = interpreters(data)
        codes = random.integers(-128, 128, shape).astype(np.int8)
        sums = ((codes.astype(np.int32) - ZX) @ weight.T.astype(np.int32) + bias).astype(np.int32)
        for kernels, run in runs.items():
            found, row = run(codes), {"operator": code, "kernels": kernels, "values": sums.size}
            for name, rule in RULES.items():
                wanted = apply(rule, sums, factor, zero_point=ZY, axis=sums.ndim - 1, dtype="int8")
                row[name] = int((found != wanted).sum())
            yield row


def missed(rows: list[dict[str, Any]], _options: Namespace) -> list[str]:
    """Convolutions of references that have another rule than TFLite's."""
    return [
        f"{row['operator']} of {row['kernels']} is not rounded twice" for row in rows
        if row["twice: up, away"] and row["operator"] != "FULLY_CONNECTED"
        and row["kernels"] in ("LiteRT reference", "tflite-micro")
    ]  # fmt: skip


main = Command(__doc__, COLUMNS, measure, missed, ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"))

if __name__ == "__main__":
    main()
