"""What stays float at the end of a network, so that its results are not rounded more than they have to be.

    conv -> depth-to-space -> add(upsampled input) -> result      super resolution, denoising: 8 bits cost 3 dB
    concat(boxes, scores) -> result                               detectors: pixels to 640 beside scores to 1

A concat of codes needs one scale, and results are floats anyway: joined as floats, each part keeps a scale of its own.

The convolution gives floats straight from its accumulators; what is added is float already, and so is the result: in
integers both would have to be converted for this one sum. A core that has to be fully integral adds codes of 16 bits.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from tvmq.graph.view import View
from tvmq.graph.walk import reachable, resolve_each
from tvmq.passes.families.base import Draft, Group

JOINED = "default: a concat at the end of the network; joined as floats its parts keep scales of their own"
REASON = "default: the sum of a float tensor at the end of the network, which would be rounded to 8 bits"


def leave_results_float(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
    """Remove these groups in place."""
    for tail in _tails(view, groups):
        for key in tail:
            reasons[groups.pop(key).root] = REASON
    for name in dict.fromkeys(view.outputs):
        for key in _joins(view, groups, name):
            reasons[groups.pop(key).root] = JOINED


def _joins(view: View, groups: dict[str, Group], name: str) -> list[str]:
    """The concats that a result is made of, and what moves their elements between them and the result."""
    known: dict[str, bool] = {}

    def joins(name: str) -> Generator[str, bool, bool]:
        group, read_by_others = groups.get(name), view.readers[name] and view.only_reader(name) is None
        if group is None or read_by_others or not (group.strategy.concatenates or group.strategy.moves):
            return False
        below = False
        for source in group.inputs:
            below = (yield source) or below
        return group.strategy.concatenates or below

    starts = [name] if resolve_each(name, joins, known) else []
    return reachable(starts, lambda key: filter(known.get, groups[key].inputs))


def widen_results(draft: Draft) -> None:
    """Make these sums those of int16 codes where a core is to be integers, and the backend has such sums."""
    wide = draft.is_integral and not draft.backend.refuses_stream("int16")
    for tail in _tails(draft.view, draft.groups) if wide else ():
        for key in tail:
            group = draft.groups[key]
            if group.strategy.adds:
                group.facts.stream = True


def _tails(view: View, groups: dict[str, Group]) -> Iterator[list[str]]:
    """The groups behind the last convolutions and products of each result that adds floats."""
    for name in dict.fromkeys(view.outputs):
        tail = [] if view.readers[name] else _tail(view, groups, name)
        known: dict[str, bool] = {}
        if any(_adds_float(groups, groups[key], known) for key in tail):
            yield tail


def _tail(view: View, groups: dict[str, Group], name: str) -> list[str]:
    """Groups from here back to the convolutions and products whose results nobody else reads; none without these."""
    known: dict[str, bool] = {}

    def leads_to_seed(name: str) -> Generator[str, bool, bool]:
        group = groups.get(name)
        if group is None or group.strategy.anchor:
            return group is not None
        found = False
        if group.strategy.adds or group.strategy.moves:
            for source in filter(view.only_reader, group.inputs):
                found = (yield source) or found
        return found

    def behind(key: str) -> list[str]:
        inputs = groups[key].inputs if not groups[key].strategy.anchor else []
        return [source for source in inputs if view.only_reader(source) and known[source]]

    found = reachable([name] if resolve_each(name, leads_to_seed, known) else [], behind)
    return [key for key in found if not groups[key].strategy.anchor]


def _adds_float(groups: dict[str, Group], group: Group, known: dict[str, bool]) -> bool:
    """True for a sum with a tensor that no group computes, moved or not."""

    def is_float(name: str) -> Generator[str, bool, bool]:
        group = groups.get(name)
        return group is None or (group.strategy.moves and (yield group.inputs[0]))

    return group.strategy.adds and any(resolve_each(name, is_float, known) for name in group.inputs)
