"""The core that exporters with channels last share: its nodes have printers in each format, its windows are numerics'."""

from __future__ import annotations

import numpy as np
import pytest

from tvmq.formats.exporting import core, core_forms
from tvmq.formats.exporting.layouts import LAST
from tvmq.formats.tflite import elementwise as tflite_elementwise
from tvmq.formats.tflite import to_tflite as tflite
from tvmq.formats.tosa import to_tosa as tosa
from tvmq.numerics.windows import make_windows


def test_nodes_have_printers_in_each_format() -> None:
    sums = {core.CoreConvolution, core.CoreConvTranspose, core.MatrixProduct}
    at_once = {core.CoreMaxPool, core.Extreme, core.CoreConcat, core.Slice, core.RepeatPixels}
    assert tflite.PRINTERS.keys() == at_once and tosa.PRINTERS.keys() == at_once | sums
    assert {*sums, core.SumPool} <= tflite_elementwise.SUMS.keys()
    for table in (tflite.FORMS, tosa.FORMS):
        assert core_forms.FORMS.keys() <= table.keys()


@pytest.mark.parametrize("seed", range(20))
def test_windows_reach_what_numerics_says(seed: int) -> None:
    """Sizes and borders cover all windows to their last element, and no more."""
    random = np.random.default_rng(seed)
    rank = 1 + seed % 2
    sizes, kernel, strides, dilation = (
        tuple(int(n) for n in random.integers(low, high, rank)) for low, high in ((9, 15), (1, 4), (1, 4), (1, 3))
    )
    padding = tuple(int(n) for n in random.integers(0, 3, 2 * rank))
    wanted = make_windows(sizes, kernel, strides=strides, padding=padding, dilation=dilation, ceil_mode=bool(seed % 3))
    x = core.CoreTensor("x", (1, 2, *sizes), LAST[rank + 2])
    windows = core.windows_of(x, (1, 2, *wanted.sizes), kernel, strides, padding, dilation)
    reached = [
        (count - 1) * stride + (k - 1) * step + 1
        for count, stride, k, step in zip(wanted.sizes, strides, kernel, dilation, strict=True)
    ]
    covered = [before + size + after for size, (before, after) in zip(windows.extent, windows.border, strict=True)]
    assert covered[2 - rank :] == reached
    assert [before for before, _ in windows.border][2 - rank :] == list(padding[:rank])
