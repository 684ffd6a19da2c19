"""conv2d in integers: also grouped, depthwise, dilated, with any padding; absorbs bias, relu, relu6 and clip.

Before                                            After
    c = conv2d(sq(x), sq(w))                          a = conv2d(pad(x), w) in int32, and what convolution.py says

Tests: tests/passes/families
"""

from __future__ import annotations

from tvmq.passes.families.convolution import Convolution

FAMILY = Convolution("conv2d", 2)
