"""conv3d in integers (video, volumes): also grouped, dilated, with any padding.

Before                                            After
    c = conv3d(sq(x), sq(w))                          a = conv3d(pad(x), w) in int32, and what convolution.py says

Tests: tests/passes/families/test_average_pools.py
"""

from __future__ import annotations

from tvmq.passes.families.convolution import Convolution

FAMILY = Convolution("conv3d", 3)
