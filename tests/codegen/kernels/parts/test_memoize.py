"""Memoized functions of kernels: built once, never confused with each other, and bounded in number."""

from __future__ import annotations

import pytest
import tvm_ffi

from tests.codegen.kernels.harness import conv_operands, requantize_for
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.isa import isa_named
from tvmq.codegen.kernels.parts import memoize as module
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.memoize import forget, memoize

SHAPES = [
    Conv2d(1, 8, 8, 16, 32),
    Conv2d(1, 8, 8, 16, 24),
    Conv2d(2, 8, 8, 16, 32),
    Conv2d(1, 8, 8, 16, 32, (3, 3), (1, 1), (1, 1, 1, 1)),
    Conv2d(1, 8, 8, 32, 32, (3, 3), (1, 1), (1, 1, 1, 1), groups=32),
    Conv2d(1, 8, 8, 32, 32, (3, 3), (2, 2), (1, 1, 1, 1), groups=32),
]


@pytest.mark.slow
def test_what_is_kept_is_what_would_be_made() -> None:
    cases = [(conv, level) for conv in SHAPES for level in ("avx512vnni", "avx2", "generic")]

    def functions() -> list:
        found = []
        for conv, level in cases:
            _, weight, bias = conv_operands(conv)
            kernel = choose_convolution(conv, weight, bias, 3, (requantize_for(conv),), isa_named(level))
            assert kernel is not None
            found.append(kernel.func)
        return found

    forget()
    kept = functions()
    assert all(one is other for one, other in zip(kept, functions(), strict=True))
    for index, (conv, level) in enumerate(cases):
        forget()  # no function of other shapes is reused
        _, weight, bias = conv_operands(conv)
        alone = choose_convolution(conv, weight, bias, 3, (requantize_for(conv),), isa_named(level))
        assert alone is not None and tvm_ffi.structural_equal(alone.func, kept[index]), (conv, level)


def test_they_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_functions", {})
    monkeypatch.setattr(module, "MOST", 3)
    for number in range(10):
        memoize((number,), lambda: object())
    assert 0 < len(module._functions) <= 3
