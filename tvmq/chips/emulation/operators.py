"""Results of a described chip for each operator of an integer module, where they can differ from the definition.

An operator that is not in OPERATORS is computed as the definition says: moves and comparisons of codes, tables, and
the element-wise integer formulas (tvmq.add, scale_shift, prelu), which have registers of 32 bits.

Tests: tests/chips/emulation/test_emulator.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from tvm import relax

from tvmq import numerics
from tvmq.chips.emulation import sums
from tvmq.chips.emulation.arithmetic import Arithmetic, requantize_sums, saturated_codes
from tvmq.chips.emulation.counts import LayerCounts
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION

Define = Callable[[Sequence[Any]], Any]


class Site(NamedTuple):
    """Operator at work: its arguments and where it counts.

    args      its arguments, computed by the chip
    define    gives what the definition gives for arguments
    proved    True if none of its sums can leave the accumulator
    trace     {variable: true sums, where they overflowed} of the sums so far, to which it adds its own
    name      of its variable
    scale_y   of the codes that it gives, where they have one
    """

    call: relax.Call
    args: Sequence[Any]
    define: Define
    chip: Arithmetic
    counts: LayerCounts
    proved: bool
    trace: dict[str, tuple[np.ndarray, np.ndarray | None]]
    name: str
    scale_y: float = 1.0


def _ints(values: Any) -> tuple[int, ...]:
    return tuple(int(v) for v in values)


def _sums(site: Site, described: Callable[[np.ndarray], sums.Sums]) -> np.ndarray:
    """Exact sums where they are proved to fit, else what the accumulators make of them."""
    exact = np.asarray(site.define(site.args))
    if site.proved:
        _count(site, exact, None)
        return exact
    total, left = described(exact)
    _count(site, exact, left)
    return np.asarray(total.astype(exact.dtype))


def _count(site: Site, exact: np.ndarray, left: np.ndarray | None) -> None:
    """Count sums and those that overflowed."""
    site.counts.sums += exact.size
    site.counts.overflows += 0 if left is None else int(left.sum())
    site.trace[site.name] = exact, left


def conv(site: Site) -> np.ndarray:
    """Convolutions of codes."""
    a, (x, w) = site.call.attrs, site.args
    options = {name: _ints(getattr(a, name)) for name in ("strides", "padding", "dilation")}
    return _sums(site, lambda exact: sums.conv(exact, x, w, site.chip.accumulator, **options, groups=int(a.groups)))


def conv_transpose(site: Site) -> np.ndarray:
    """Transposed convolutions of codes."""
    a, (x, w) = site.call.attrs, site.args
    names = ("strides", "padding", "output_padding", "dilation")
    options: dict[str, Any] = {name: _ints(getattr(a, name)) for name in names}
    extra: dict[str, Any] = {"groups": int(a.groups), "x_zero": int(a.zero_point)}
    return _sums(site, lambda exact: sums.conv_transpose(exact, x, w, site.chip.accumulator, **options, **extra))


def matmul(site: Site) -> np.ndarray:
    """Products of matrices, of codes or of their steps from zero points."""
    a, b = (np.asarray(arg, np.int64) for arg in site.args)
    zeros = [int(getattr(site.call.attrs, name, 0)) for name in ("a_zero", "b_zero")]
    return _sums(site, lambda exact: sums.matmul(exact, a - zeros[0], b - zeros[1], site.chip.accumulator))


def one_step(site: Site) -> np.ndarray:
    """Compute one sum or product of integers: a bias, a product of two codes."""
    return _sums(site, lambda exact: sums.fit_sums(exact, site.chip.accumulator))


def bias(site: Site) -> np.ndarray:
    """Sums and what is added to them; biases have a width of their own.

    A sum counts once, with its bias: one that wraps and is brought back by the bias has not overflowed.
    """
    a, b = site.args
    limit = 2 ** (site.chip.bias_bits - 1)
    b = np.clip(np.asarray(b, np.int64), -limit, limit - 1)
    source = getattr(site.call.args[0], "name", "")
    true, before = site.trace.get(source, (a, None))
    if source in site.trace:
        site.counts.sums -= true.size
        site.counts.overflows -= 0 if before is None else int(before.sum())
    exact = np.add(true, b, dtype=np.int64)
    if site.proved:
        _count(site, exact, None)
        return np.asarray(exact.astype(np.int32))
    total, left = sums.fit_sums(np.add(a, b, dtype=np.int64), site.chip.accumulator)
    if site.chip.accumulator.overflow == "wrap":
        left = site.chip.accumulator.leaves(exact)
    elif before is not None:
        left = left | before
    _count(site, exact, left)
    return np.asarray(total.astype(np.int32))


def reduce_sum(site: Site) -> np.ndarray:
    """Sums over axes."""
    a, steps = site.call.attrs, _steps(site)
    return _sums(site, lambda exact: sums.sum_over_axes(exact, steps, _ints(a.axes), site.chip.accumulator))


def sum_pool(site: Site) -> np.ndarray:
    """Sums of windows."""
    a, steps = site.call.attrs, _steps(site)
    options = {name: _ints(getattr(a, name)) for name in ("kernel", "strides", "padding")}
    return _sums(site, lambda exact: sums.sum_pool(exact, steps, site.chip.accumulator, **options))


def adaptive_sum_pool(site: Site) -> np.ndarray:
    """Sums of windows that cover each axis evenly."""
    size, steps = _ints(site.call.attrs.out_size), _steps(site)
    return _sums(site, lambda exact: sums.adaptive_sum_pool(exact, steps, site.chip.accumulator, size))


def _steps(site: Site) -> np.ndarray:
    return np.subtract(site.args[0], np.int32(site.call.attrs.zero_point), dtype=np.int32)


def requantize(site: Site) -> np.ndarray:
    """Codes of sums, by the chip's rule."""
    a, (acc, multiplier, shift) = site.call.attrs, site.args
    axis = int(a.axis) if int(a.axis) >= 0 else None
    factor = numerics.real_factor(multiplier, shift, mode=a.mode)
    codes: dict[str, Any] = {
        "zero_point": int(a.zero_point), "axis": axis, "dtype": str(a.dtype), "qmin": int(a.qmin), "qmax": int(a.qmax),
    }  # fmt: skip
    site.counts.codes += acc.size
    site.counts.saturated += saturated_codes(acc, factor, **codes)
    rule = site.chip.rule
    if rule is None:
        return np.asarray(site.define(site.args))
    slope = float(a.negative_slope)
    return requantize_sums(acc, factor, rule, **codes, negative_slope=slope, scale_y=site.scale_y)


SUMS: dict[str, Callable[[Site], np.ndarray]] = {
    **dict.fromkeys(where(kind=CONVOLUTION), conv),
    "tvmq.conv_transpose": conv_transpose,
    "matmul": matmul,
    "tvmq.matmul": matmul,
    "tvmq.multiply": one_step,
    "multiply": one_step,
    "add": bias,
    "tvmq.sum": reduce_sum,
    "tvmq.sum_pool": sum_pool,
    "tvmq.adaptive_sum_pool": adaptive_sum_pool,
}
OPERATORS: dict[str, Callable[[Site], np.ndarray]] = {**SUMS, "tvmq.requantize": requantize}
