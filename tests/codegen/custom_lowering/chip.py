"""A small network whose parts custom lowerings take, and the computation of a chip for them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import tvm
from tvm import te, tirx

import tvmq
from tests.support.models.networks import Feed, Net, feeds_of
from tvmq.extension import Match

CONV = "nn.conv2d[groups=1] -> add -> tvmq.requantize"


@cache
def network(size: int = 8, seed: int = 0) -> tuple[tvm.IRModule, list[Feed]]:
    """An integer module: two convolutions, a grouped one, a sum, a sigmoid, a dense layer; and inputs for it."""
    net = Net((1, 3, size, size), seed=seed)
    first = net.op("Relu", net.conv(net.inputs[0], 3, 4))
    second = net.conv(first, 4, 4, strides=[1, 1])
    total = net.op("Sigmoid", net.op("Add", first, second))
    grouped = net.op("Relu", net.conv(total, 4, 4, groups=4))
    model = net.model(net.dense(net.op("Flatten", grouped), 4 * size * size, 5))
    feeds = feeds_of(model, 4, seed + 1)
    mod, params = tvmq.from_onnx(model)
    with tvmq.qconfig(calibrate_mode="minmax"):
        return tvmq.quantize(mod, params, feeds, guard=None), feeds


def conv_codes(match: Match) -> Any:
    """The convolution with its bias, and codes of the sums, in TE."""
    conv, codes = match.attrs("nn.conv2d"), match.attrs("tvmq.requantize")
    x, w, bias, factor, _ = match.placeholders()
    _, channels, rows, columns = (int(size) for size in w.shape)
    axes = [te.reduce_axis((0, size)) for size in (channels, rows, columns)]
    (top, left), (down, right) = list(conv.padding)[:2], list(conv.strides)
    shape = [int(size) for size in match.result.ty.shape]

    def product(n: Any, f: Any, y: Any, z: Any) -> Any:
        row, column = y * down + axes[1] - top, z * right + axes[2] - left
        inside = tirx.all(row >= 0, row < x.shape[2], column >= 0, column < x.shape[3])
        value = tirx.if_then_else(inside, tirx.Cast("int32", x[n, axes[0], row, column]), 0)
        return te.sum(value * tirx.Cast("int32", w[f, axes[0], axes[1], axes[2]]), axis=axes)

    sums = te.compute(shape, product, name="sums")

    def code(n: Any, f: Any, y: Any, z: Any) -> Any:
        real = tirx.Cast("float32", sums[n, f, y, z] + bias[0, f, 0, 0]) * factor[f]
        whole = tirx.Cast("int32", tirx.nearbyint(real)) + codes.zero_point
        return tirx.Cast(codes.dtype, tirx.min(tirx.max(whole, codes.qmin), codes.qmax))

    return te.compute(shape, code, name="codes")


def conv_defined(match: Match, x: np.ndarray, *constants: np.ndarray) -> np.ndarray:
    """Convolve in NumPy, one position of the kernel after the other."""
    w, bias, factor, _ = constants
    conv, codes = match.attrs("nn.conv2d"), match.attrs("tvmq.requantize")
    top, left, bottom, right = (int(size) for size in conv.padding)
    padded = np.pad(x.astype(np.int32), ((0, 0), (0, 0), (top, bottom), (left, right)))
    n, f, height, width = (int(size) for size in match.result.ty.shape)
    sums = np.zeros((n, f, height, width), np.int32)
    for row in range(w.shape[2]):
        for column in range(w.shape[3]):
            window = padded[:, :, row : row + height, column : column + width]
            sums += np.einsum("ncyx,fc->nfyx", window, w[:, :, row, column].astype(np.int32))
    real = np.rint((sums + bias).astype(np.float32) * factor[:, None, None])
    return np.clip(real + codes.zero_point, codes.qmin, codes.qmax).astype(codes.dtype)


def table_in_two_steps(match: Match) -> Any:
    """A table of 256 codes as 16 rows: the row by the high half of a code, then the place in it by the low half."""
    x, values = match.placeholders()

    def looked_up(*at: Any) -> Any:
        code = tirx.Cast("int32", x(*at))
        code = code + 128 if str(x.dtype) == "int8" else code
        return values[(code >> 4) * 16 + (code & 15)]

    return te.compute(x.shape, looked_up, name="looked_up")


def run(exe: tvmq.Executable, feeds: list[Feed]) -> np.ndarray:
    """Results of all inputs."""
    return np.concatenate([exe.run(feed)[0] for feed in feeds])
