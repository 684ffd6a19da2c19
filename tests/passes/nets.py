"""Networks at the corners of the passes, one function a corner; each returns the Net and its outputs."""

from __future__ import annotations

from tests.passes import branch_nets, function_nets, layer_nets, product_nets
from tests.passes.corner import Nets

NETS: Nets = {**branch_nets.NETS, **layer_nets.NETS, **function_nets.NETS, **product_nets.NETS}
