"""Leaky relu inside the requantize of the convolution or product before it: one rounding instead of two.

Before                                            After
    c = conv2d(x, w) + bias                           one group, facts: negative_slope
    y = leakyrelu(c, alpha), a table of c's codes

Needs     0 <= alpha <= 1, and c read by nothing else.
Numerics  numerics.requantize with negative_slope; without this the result of c is rounded to 8 bits, then the table's.
"""

from __future__ import annotations

from tvmq.graph.view import View, op_name
from tvmq.passes.families.base import Group

FAMILIES = ("conv1d", "conv2d", "conv3d", "conv_transpose", "dense")


def absorb_slopes(view: View, groups: dict[str, Group]) -> None:
    """Join each group of one leaky relu to the group it reads, in place; groups are keyed by their results."""
    for name, group in list(groups.items()):
        slope = _slope(view, group)
        source = groups.get(group.inputs[0]) if slope is not None else None
        if source is None or source.family not in FAMILIES or not _is_plain(view, source):
            continue
        del groups[source.output]
        source.members.append(name)
        source.facts["negative_slope"] = slope
        groups[name] = source


def _slope(view: View, group: Group) -> float | None:
    """alpha of a group that is one leaky relu."""
    value = view.value.get(group.output)
    if group.family != "table" or len(group.members) != 1 or value is None or op_name(value) != "nn.leakyrelu":
        return None
    alpha = float(value.attrs.alpha)
    return alpha if 0 <= alpha <= 1 else None


def _is_plain(view: View, source: Group) -> bool:
    """True if nothing but one variable reads the sums, and no clip or slope follows them yet."""
    bounds = (source.facts.get("low"), source.facts.get("high"))
    unbounded = bounds == (float("-inf"), float("inf")) and not {"negative_slope", "bounds"} & set(source.facts)
    return unbounded and view.only_reader(source.output) is not None
