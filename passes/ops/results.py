"""A sum at the end of a network with something that is float stays float, so that the result is not rounded to 8 bits.

    conv -> depth-to-space -> add(upsampled input) -> result      super resolution, denoising: 8 bits cost 3 dB

The convolution gives floats straight from its accumulators; what is added is float already, and so is the result: in
integers both would have to be converted for this one sum. A core that has to be fully integral adds codes of 16 bits.
"""

from __future__ import annotations

from collections.abc import Iterator

from tvmq.graph.view import View
from tvmq.passes.ops.base import Group

REASON = "default: the sum of a float tensor at the end of the network, which would be rounded to 8 bits"


def leave_results_float(view: View, groups: dict[str, Group], reasons: dict[str, str], seeds: tuple[str, ...]) -> None:
    """Remove these groups in place; `seeds` are the families that can give floats from their accumulators."""
    for tail in _tails(view, groups, seeds):
        for key in tail:
            reasons[groups.pop(key).root] = REASON


def widen_results(view: View, groups: dict[str, Group], seeds: tuple[str, ...]) -> None:
    """Make these sums those of int16 codes, in place."""
    for tail in _tails(view, groups, seeds):
        for key in tail:
            group = groups[key]
            if group.family == "add":
                group.facts["stream"] = True


def _tails(view: View, groups: dict[str, Group], seeds: tuple[str, ...]) -> Iterator[list[str]]:
    """The groups behind the last convolutions and products of each result that adds floats."""
    for name in dict.fromkeys(view.outputs):
        tail = [] if view.readers[name] else _tail(view, groups, name, seeds) or []
        if any(_adds_float(groups, groups[key]) for key in tail):
            yield tail


def _tail(view: View, groups: dict[str, Group], name: str, seeds: tuple[str, ...]) -> list[str] | None:
    """Groups from here back to the convolutions and products whose results nobody else reads; None without these."""
    group = groups.get(name)
    if group is None:
        return None
    if group.family in seeds:
        return []
    if group.family not in ("add", "shape"):
        return None
    parts = [_tail(view, groups, source, seeds) for source in group.inputs if view.only_reader(source)]
    found = [part for part in parts if part is not None]
    return [name, *(key for part in found for key in part)] if found else None


def _adds_float(groups: dict[str, Group], group: Group) -> bool:
    """True for a sum with a tensor that no group computes, moved or not."""
    return group.family == "add" and any(_is_float(groups, name) for name in group.inputs)


def _is_float(groups: dict[str, Group], name: str) -> bool:
    group = groups.get(name)
    return group is None or (group.family == "shape" and _is_float(groups, group.inputs[0]))
