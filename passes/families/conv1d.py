"""conv1d in integers (audio, sequences): also grouped, depthwise, dilated, with any padding.

Before                                            After
    c = conv1d(sq(x), sq(w))                          a = conv1d(pad(x), w) in int32, and what convolution.py says

Tests: tests/passes/families/test_average_pools.py
"""

from __future__ import annotations

from tvmq.passes.families.convolution import Convolution

FAMILY = Convolution("conv1d", 1)
