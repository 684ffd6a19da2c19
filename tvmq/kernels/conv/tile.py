"""Where a tile of a convolution stands (see conv_loops)."""

from __future__ import annotations

from dataclasses import dataclass

from tvmq.kernels.parts.builder import Buffer, Expr
from tvmq.kernels.parts.packing import PanelRun


@dataclass(frozen=True, eq=False)
class Tile:
    """Where a tile stands.

    source, origin  flat buffer that windows are read from, and the element of the input it starts with
    pixel, rows     first output pixel and their number
    index           number of the tile in its chunk
    group           of the convolution
    vector          first vector of output channels in the group
    panel           kind of the panel
    rests           packed taps (see rest_taps) and the output row they start with; None if there are none
    weights         the panel's weights, unpacked for all tiles; None: they are read from the kernel's own
    """

    source: Buffer
    origin: Expr
    pixel: Expr
    rows: int
    index: Expr
    group: Expr
    vector: Expr
    panel: PanelRun
    weights: Buffer | None = None
    rests: tuple[Buffer, Expr] | None = None
