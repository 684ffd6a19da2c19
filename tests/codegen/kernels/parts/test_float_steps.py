"""Element-wise floats after the sums of products, and the codes of the result: every template, every vector width."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.codegen.kernels.harness import conv_operands, expected_conv, levels, run_kernel
from tvmq import numerics
from tvmq.codegen.kernels.conv.conv2d import conv2d
from tvmq.codegen.kernels.depthwise.depthwise import depthwise
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts.epilogue import plan_epilogue
from tvmq.codegen.kernels.parts.kernel_types import AddStep, Conv2d, Dequantize, Epilogue, FloatSteps, TableStep
from tvmq.codegen.kernels.winograd.winograd import choose_winograd, make_winograd
from tvmq.errors import BuildError

LEVELS = levels("generic", "avx2", "avx512vnni", "avx512vbmi")
HSWISH = (("add", (0, 3.0)), ("clip", (1, 0.0, 6.0)), ("multiply", (0, 2)), ("divide", (3, 6.0)))
AFFINE = (("multiply", (0, "channel0")), ("add", (1, "channel1")), ("nn.relu", (2,)))
BOUNDS = (("maximum", (0, "channel0")), ("minimum", (1, "channel1")))
CASES: dict[str, tuple[tuple, Callable[..., np.ndarray]]] = {
    "codes": ((), lambda x, *_: x),
    "hswish": (HSWISH, lambda x, *_: (x * np.clip(x + np.float32(3), 0, 6)) / np.float32(6)),
    "silu": ((("nn.silu", (0,)),), lambda x, *_: numerics.elementary.silu(x)),
    "gelu": ((("nn.gelu", (0,)), ("negative", (1,))), lambda x, *_: -numerics.elementary.gelu(x)),
    "affine": (AFFINE, lambda x, a, b: np.maximum(x * a + b, np.float32(0))),
    "bounds": (BOUNDS, lambda x, a, b: np.minimum(np.maximum(x, a), b)),
    "leaky": ((("nn.leakyrelu", (0, 0.125)),), lambda x, *_: np.where(x >= 0, x, x * np.float32(0.125))),
}
CODES = (0.031, 7, 2, 250, "uint8")


def epilogue_of(name: str, filters: int, codes: tuple | None) -> tuple[Epilogue, Callable[[np.ndarray], np.ndarray]]:
    """The steps of a case, and what they make of sums by definition."""
    steps, definition = CASES[name]
    channels = {}
    if name in ("affine", "bounds"):
        channels = {f"channel{i}": np.linspace(low, 2, filters, dtype=np.float32) for i, low in enumerate((-1.0, 0.25))}
    scale = np.linspace(1e-5, 2e-4, filters, dtype=np.float32)

    def expected(sums: np.ndarray) -> np.ndarray:
        reals = definition(sums.astype(np.float32) * scale, *channels.values())
        if codes is None:
            return reals
        step, zero_point, qmin, qmax, dtype = codes
        return numerics.quantize(reals, np.float32(step), zero_point, qmin=qmin, qmax=qmax, dtype=dtype)

    return (Dequantize(scale), FloatSteps(steps, channels, codes)), expected


def compare(conv: Conv2d, level: str, name: str, codes: tuple | None, template: str = "conv2d") -> None:
    epilogue, expected = epilogue_of(name, conv.filters, codes)
    operands = conv_operands(conv)
    x, weight, bias = operands
    if template == "winograd":
        shape = choose_winograd(conv, weight, 0, isa_named(level), direct=1.0).shape
        if shape is None:
            pytest.skip("no Winograd for this shape on this level")
        kernel = make_winograd(shape, weight, bias, epilogue)
    else:
        kernel = (depthwise if template == "depthwise" else conv2d)(conv, weight, bias, 0, epilogue, isa_named(level))
    sums = expected_conv(conv, operands, 0, (), ())
    np.testing.assert_array_equal(run_kernel(kernel, (x,), level), expected(sums))


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_convolutions_go_on_in_floats(name: str, level: str) -> None:
    """21 filters: whole, half and single vectors; tiles of several rows, with and without a partner to join."""
    compare(Conv2d(1, 5, 7, 12, 21, (3, 3), padding=(1, 1, 1, 1)), level, name, CODES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("codes", [None, (0.02, -3, -128, 127, "int8")], ids=["floats", "int8"])
def test_half_vectors_and_other_results(codes: tuple | None, level: str) -> None:
    compare(Conv2d(1, 3, 5, 8, 8), level, "hswish", codes)


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("codes", [None, CODES], ids=["floats", "codes"])
def test_depthwise(codes: tuple | None, level: str) -> None:
    compare(Conv2d(1, 6, 7, 40, 40, (3, 3), padding=(1, 1, 1, 1), groups=40), level, "affine", codes, "depthwise")


@pytest.mark.slow
@pytest.mark.parametrize("level", levels("avx2", "avx512vbmi"))
@pytest.mark.parametrize("codes", [None, CODES], ids=["floats", "codes"])
def test_winograd(codes: tuple | None, level: str) -> None:
    compare(Conv2d(1, 16, 16, 64, 64, (3, 3), padding=(1, 1, 1, 1)), level, "affine", codes, "winograd")


def test_kernels_of_equal_steps_are_shared() -> None:
    """Scales and numbers of channels are data; the steps and limits are code."""
    plans = [plan_epilogue(epilogue_of(name, 4, codes)[0]) for name, codes in [
        ("affine", CODES), ("affine", (0.5, *CODES[1:])), ("affine", (*CODES[:1], 8, *CODES[2:])), ("hswish", CODES),
    ]]  # fmt: skip
    first, same, other_codes, other_steps = (plan.key for plan in plans)
    assert first == same and first != other_codes and first != other_steps


def test_what_cannot_follow_is_refused() -> None:
    first = Dequantize(np.float32([1.0]))
    for steps, last in [
        ((TableStep(np.zeros(256, np.uint8)),), "TableStep"),
        ((FloatSteps((), {}, None), AddStep(*[0] * 7)), "AddStep"),
    ]:
        with pytest.raises(BuildError, match=f"{last} cannot follow a dequantize step; float steps can"):
            plan_epilogue((first, *steps))
