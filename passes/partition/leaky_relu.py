"""Leaky relu inside the requantize of the convolution or product before it: one rounding instead of two.

Before                                            After
    c = conv2d(x, w) + bias                           one group, facts: negative_slope
    y = leakyrelu(c, alpha), a table of c's codes

Needs     0 <= alpha <= 1, and c read by nothing else.
Numerics  numerics.requantize with negative_slope; without this the result of c is rounded to 8 bits, then the table's.
"""

from __future__ import annotations

from tvmq.graph.view import View
from tvmq.passes.families.base import Draft, Group


def absorb_slopes(draft: Draft) -> None:
    """Join each group of one leaky relu to the group it reads; only requantize in floats has slopes."""
    view, groups = draft.view, draft.groups
    if draft.config.requantize != "float":
        return
    for name, group in list(groups.items()):
        slope = group.strategy.slope(view, group)
        source = groups.get(group.inputs[0]) if slope is not None else None
        if source is None or not source.strategy.weighted or not _is_plain(view, source):
            continue
        del groups[source.output]
        source.members.append(name)
        source.facts.negative_slope = slope
        groups[name] = source


def _is_plain(view: View, source: Group) -> bool:
    """True if nothing but one variable reads the sums, and no clip or slope follows them yet."""
    facts = source.facts
    unbounded = not facts.is_bounded and not facts.bounds and facts.negative_slope is None
    return unbounded and view.only_reader(source.output) is not None
