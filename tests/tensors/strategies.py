"""Strategies of quantized tensors: types, bits, one scale or one a channel, zero points at the ends."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tvmq.numerics.spec import QParams, QuantSpec
from tvmq.tensors.qtensor import QTensor

SHAPES = [(2, 3), (1, 4), (3, 1, 2), (4, 2, 2), (2, 1, 1, 3)]


@st.composite
def qtensors(draw: st.DrawFn, shape: tuple[int, ...] | None = None, per_channel: bool | None = None) -> QTensor:
    """A tensor of codes of any spec that there is."""
    shape = shape or draw(st.sampled_from(SHAPES))
    per_channel = draw(st.booleans()) if per_channel is None else per_channel
    dtype = draw(st.sampled_from(["uint8", "int8", "int16"]))
    symmetric = dtype != "uint8" and draw(st.booleans())
    spec = QuantSpec(dtype, draw(st.integers(2, 16 if dtype == "int16" else 8)), symmetric, per_channel)
    axis = draw(st.integers(0, len(shape) - 1)) if per_channel else None
    sizes = () if axis is None else (shape[axis],)
    scale = draw(hnp.arrays(np.float32, sizes, elements=st.floats(2.0**-20, 2.0**20, width=32)))
    zeros = st.just(0) if symmetric else st.integers(spec.qmin, spec.qmax)
    zero_point = draw(hnp.arrays(np.int32, sizes, elements=zeros))
    codes = draw(hnp.arrays(dtype, shape, elements=st.integers(spec.qmin, spec.qmax)))
    return QTensor(codes, QParams(scale, zero_point, spec, axis))


def one_scale() -> st.SearchStrategy[QTensor]:
    """Those that have one scale."""
    return qtensors(per_channel=False)
