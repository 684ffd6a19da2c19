"""conv1d in integers (audio, sequences): also grouped, depthwise, dilated, with any padding.

Before                                            After
    c = conv1d(sq(x), sq(w))                          a = conv1d(pad(x), w) in int32, and what convolution.py says
"""

from __future__ import annotations

from tvmq.passes.families.convolution import Convolution

FAMILY = Convolution("conv1d", 1)
