"""Operators that slide a window: convolutions and pools, with their padding made explicit.

TVM's converters pad SAME_UPPER and SAME_LOWER with a TIR call, or for pools by formulas unlike ONNX's.
"""

from __future__ import annotations

from tvmq.frontends.onnx.repairs.node import NodeCall

STATIC = "fix the input shapes with shape=, or export with explicit pads"


def conv(call: NodeCall) -> None:
    """Conv: SAME_* and VALID become explicit pads."""
    _explicit_pads(call, call.shape(1)[2:])


def pool(call: NodeCall) -> None:
    """MaxPool, AveragePool, LpPool: as conv; the Indices output is refused."""
    if len(call.outputs) > 1:
        raise call.unsupported("its Indices output is not supported", "use only its first output")
    _explicit_pads(call, call.attributes["kernel_shape"])


def conv_transpose(call: NodeCall) -> None:
    """ConvTranspose: output_shape, which TVM ignores, becomes explicit pads (ONNX's formula)."""
    target = call.attributes.pop("output_shape", None)
    if target is None:
        return
    sizes, kernel = call.shape()[2:], call.shape(1)[2:]
    if not all(isinstance(size, int) for size in [*sizes, *kernel]):
        raise call.unsupported("output_shape needs fixed input dimensions", STATIC)
    count = len(kernel)
    strides = call.attributes.get("strides", (1,) * count)
    dilations = call.attributes.get("dilations", (1,) * count)
    extra = call.attributes.get("output_padding", (0,) * count)
    totals = [
        strides[i] * (sizes[i] - 1) + extra[i] + (kernel[i] - 1) * dilations[i] + 1 - target[i - count]
        for i in range(count)
    ]
    # Where even unpadded results are too small, the rest is filled at the end, as output_padding does.
    call.attributes["output_padding"] = tuple(e + max(-t, 0) for e, t in zip(extra, totals, strict=True))
    call.attributes["pads"] = _halves([max(total, 0) for total in totals], call.text("auto_pad", "NOTSET"))
    call.attributes["auto_pad"] = b"NOTSET"


def roi_align(call: NodeCall) -> None:
    """RoiAlign in mode max is refused: TVM takes the maximum of other terms than ONNX does."""
    if call.text("mode", "avg") == "max":
        raise call.unsupported("mode max", "use mode avg")


def _explicit_pads(call: NodeCall, kernel: list[int]) -> None:
    """Replace auto_pad by pads: (begin of each axis, end of each axis)."""
    mode = call.text("auto_pad", "NOTSET")
    call.attributes.pop("auto_pad", None)
    if mode == "NOTSET":
        return
    count = len(kernel)
    if mode == "VALID":
        call.attributes["pads"] = (0,) * (2 * count)
        return
    sizes = call.shape()[2:]
    if not all(isinstance(size, int) for size in [*sizes, *kernel]):
        raise call.unsupported(f"auto_pad {mode} needs fixed height and width", STATIC)
    strides = call.attributes.get("strides", (1,) * count)
    dilations = call.attributes.get("dilations", (1,) * count)
    totals = []
    for size, window, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        results = -(-size // stride)
        totals.append(max((results - 1) * stride + (window - 1) * dilation + 1 - size, 0))
    call.attributes["pads"] = _halves(totals, mode)


def _halves(totals: list[int], mode: str) -> tuple[int, ...]:
    """Padding of each axis as (begins, ends); an odd one goes to the end for SAME_UPPER, else the start."""
    begins = [total // 2 if mode == "SAME_UPPER" else total - total // 2 for total in totals]
    return (*begins, *(total - begin for total, begin in zip(totals, begins, strict=True)))
