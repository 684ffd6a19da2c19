"""`tvmq.measure_machine`: speed of kernels on this CPU relative to the cost model, measured once.

A small network is built in int8 and in float, and the time of each call is compared with its forecast. There is a
factor for each kind of work (convolution, Winograd, depthwise, ...), since CPUs differ in each: Zen 5 needs half of the
cycles of Zen 4 for a depthwise convolution, but nine tenths for a product.
"""

from __future__ import annotations

import time

import numpy as np
import tvm
from tvm import relax

from tvmq.codegen.compile.build import build
from tvmq.codegen.cost import START
from tvmq.codegen.performance.estimate import estimates
from tvmq.codegen.performance.machine import Speed, keep_speed, known_speed, machine_of
from tvmq.codegen.target.cpu import CpuTarget
from tvmq.options.config import QConfig
from tvmq.quantization.pipeline import quantize
from tvmq.runtime.executable import Executable
from tvmq.runtime.profile import clock_seconds, record_calls, time_calls

SHAPE = (1, 32, 28, 28)
ROUNDS = 25
LEAST = 0.3e-6  # seconds of all calls of a kind: below that the clock is the larger part
MOST = 4.0  # a factor beyond that is a disturbance


def measure_machine(*, again: bool = False) -> Speed:
    """Measure {"factors": {kind of work: measured time / forecast time}, "run": seconds of a run besides its calls}.

    Takes about 4 s the first time; stored in the cache folder, so that `tvmq.inspect` and profiles forecast for this
    machine.
    Measure while nothing else runs.

    again  measure even if the speed is known

    >>> from unittest.mock import patch
    >>> speed = {"factors": {"depthwise": 0.5}, "run": 5e-6}
    >>> with patch("tvmq.tools.analysis.machine_speed.known_speed", lambda: speed):
    ...     measure_machine()["run"]
    5e-06
    """
    known = None if again else known_speed()
    if known is not None:
        return known
    network = _network()
    nominal = QConfig(calibrate_mode="global_scale", bias_correction=False, weight_rounding="nearest")
    totals: dict[str, list[float]] = {}
    runs: list[float] = []
    for module in (quantize(network, {}, config=nominal, guard=None), network):
        exe = build(module)
        kinds, run = _compare(exe)
        runs.append(run)
        for kind, measured, forecast in kinds:
            total = totals.setdefault(kind, [0.0, 0.0])
            total[:] = total[0] + measured, total[1] + forecast
    factors = {
        kind: round(min(max(measured / forecast, 1 / MOST), MOST), 3)
        for kind, (measured, forecast) in totals.items()
        if min(measured, forecast) > LEAST
    }
    speed = {"factors": factors, "run": max(round(min(runs), 8), 1e-7)}
    keep_speed(speed)
    return speed


def _compare(exe: Executable) -> tuple[list[tuple[str, float, float]], float]:
    """Per call (kind of work, least seconds, forecast without factors); and seconds of a run besides its calls."""
    assert isinstance(exe.target, CpuTarget)
    machine = machine_of(exe.target)
    expected, _ = estimates(exe.module, exe.target, machine)
    factors = dict(machine.factors)
    virtual = relax.VirtualMachine(exe._parts.executable, tvm.cpu())
    image = np.random.default_rng(0).random(SHAPE, np.float32)
    tensor = tvm.runtime.tensor(image)
    calls = record_calls(virtual, lambda main: main(tensor))
    looks = clock_seconds(calls, ROUNDS)
    rounds, whole = [], []
    for _ in range(ROUNDS):
        rounds.append(time_calls(calls))
        begin = time.perf_counter()
        exe.run({"x": image})
        whole.append(time.perf_counter() - begin)
    measured = [max(min(times) - looks, 0.0) for times in zip(*rounds, strict=True)]
    rows = [
        (estimate.work.kind, seconds, (estimate.time.total - START) / factors.get(estimate.work.kind, 1.0))
        for estimate, seconds in zip(expected, measured, strict=True)
    ]
    return rows, min(whole) - sum(measured) - START * len(measured)


def _network() -> tvm.IRModule:
    """Float network of three kinds of convolutions, an addition, a mean and a classifier; about 70 million products."""
    random, builder = np.random.default_rng(0), relax.BlockBuilder()
    x = relax.Var("x", relax.TensorType(SHAPE, "float32"))

    def weight(*shape: int) -> relax.Constant:
        return relax.const((0.1 * random.normal(size=shape)).astype(np.float32))

    def conv(y: relax.Expr, filters: int, channels: int, size: int, groups: int = 1, stride: int = 1) -> relax.Expr:
        taps = weight(filters, channels // groups, size, size)
        y = builder.emit(relax.op.nn.conv2d(y, taps, strides=stride, padding=size // 2, groups=groups))
        return builder.emit(relax.op.nn.relu(builder.emit(relax.op.add(y, weight(1, filters, 1, 1)))))

    with builder.function("main", [x]):
        with builder.dataflow():
            y = conv(conv(x, 64, 32, 3), 128, 64, 1)
            y = conv(conv(y, 128, 128, 3, groups=128), 64, 128, 1)
            y = builder.emit(relax.op.add(y, conv(conv(y, 64, 64, 3), 64, 64, 3)))
            y = builder.emit(relax.op.mean(conv(y, 128, 64, 3, stride=2), axis=[2, 3]))
            result = builder.emit_output(builder.emit(relax.op.matmul(y, weight(128, 100))))
        builder.emit_func_output(result)
    return builder.get()
