"""Groups that stay float though they have an integer form: results, and sums that a normalization reads.

What stays float at the end of a network, so that its results are not rounded more than they have to be.

    conv -> depth-to-space -> add(upsampled input) -> result      super resolution, denoising: 8 bits cost 3 dB
    concat(boxes, scores) -> result                               detectors: pixels to 640 beside scores to 1

A concat of codes needs one scale, and results are floats anyway: joined as floats, each part keeps a scale of its own.
What decodes boxes before it is float too (decoding.py).

The convolution gives floats straight from its accumulators; what is added is float already, and so is the result: in
integers both would have to be converted for this one sum. A core that has to be fully integral adds codes of 16 bits.

Sums that a normalization or a softmax reads: they stay float, so that their input is not rounded to 8 bits.

    residual stream   x -> add -> layer norm -> ... -> add -> layer norm      a few channels are hundreds of times
                      larger than the others and one scale leaves nothing of those: 8 bits cost a BERT 38 points
    attention mask    scores -> add(-10000 or 0) -> softmax                   the mask would be all that a scale sees

The layer norm and the softmax are float islands, so nothing is gained by rounding what only they (and the next sum of
the stream) read; the products before give floats straight from their accumulators. With
qconfig(residual_streams="int16") residual streams, not masks, become codes of 16 bits: residual_streams.py.

Tests: tests/passes/test_partition_conversions.py
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE, TRANSPOSE
from tvmq.graph.view import View, is_const, op_name
from tvmq.graph.walk import reachable, resolve_each
from tvmq.passes.families.base import Draft, Group
from tvmq.passes.partition.decoding import leave_decoding_float

JOINED = "default: a concat at the end of the network; joined as floats its parts keep scales of their own"
REASON = "default: the sum of a float tensor at the end of the network, which would be rounded to 8 bits"


def leave_results_float(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
    """Remove the groups at the ends of the network that stay float, in place."""
    for tail in _tails(view, groups):
        for key in tail:
            reasons[groups.pop(key).root] = REASON
    joined = []
    for name in dict.fromkeys(view.outputs):
        for key in _joins(view, groups, name):
            joined.append(groups.pop(key).root)
            reasons[joined[-1]] = JOINED
    leave_decoding_float(view, groups, reasons, joined)


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
    adds_int16 = draft.is_integral and not draft.backend.refuses_stream("int16")
    for tail in _tails(draft.view, draft.groups) if adds_int16 else ():
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
        has_seed = False
        if group.strategy.adds or group.strategy.moves:
            for source in filter(view.only_reader, group.inputs):
                has_seed = (yield source) or has_seed
        return has_seed

    def linked_sources(key: str) -> list[str]:
        inputs = groups[key].inputs if not groups[key].strategy.anchor else []
        return [source for source in inputs if view.only_reader(source) and known[source]]

    tail = reachable([name] if resolve_each(name, leads_to_seed, known) else [], linked_sources)
    return [key for key in tail if not groups[key].strategy.anchor]


def _adds_float(groups: dict[str, Group], group: Group, known: dict[str, bool]) -> bool:
    """True for a sum with a tensor that no group computes, moved or not."""

    def is_float(name: str) -> Generator[str, bool, bool]:
        group = groups.get(name)
        return group is None or (group.strategy.moves and (yield group.inputs[0]))

    return group.strategy.adds and any(resolve_each(name, is_float, known) for name in group.inputs)


NORMALIZATIONS = {
    "nn.layer_norm": "layer norm",
    "nn.rms_norm": "rms norm",
    "nn.group_norm": "group norm",
    "nn.instance_norm": "instance norm",
    "tvmq.layer_norm": "layer norm",
    "tvmq.rms_norm": "rms norm",
    "tvmq.group_norm": "group norm",
    "tvmq.instance_norm": "instance norm",
    "nn.softmax": "softmax",
    "tvmq.softmax": "softmax",
}
# what moves the values of a stream without computing
MOVES = where(form=(RESHAPE, TRANSPOSE))


def why_float_sum(view: View, name: str) -> str | None:
    """Why the sum `name` stays float; None if it does not.

    It does if a normalization or a softmax reads it (also behind a reshape), or if nothing but such sums read it.
    """
    normalization = normalization_of(view, name)
    if normalization:
        return f"default: a {normalization} reads this sum; in 8 bits it would lose too much"
    if _is_residual_sum(view, name):
        return "default: it is added to a sum that stays float for the normalization behind it"
    return None


def normalization_of(view: View, name: str) -> str | None:
    """The normalization that reads a tensor, also behind operators that move values."""

    def normalization_behind(name: str) -> Generator[str, str | None, str | None]:
        for reader in view.readers[name]:
            op = op_name(view.value[reader])
            if op in NORMALIZATIONS and view.value[reader].args[0].name == name:
                return NORMALIZATIONS[op]
            behind = (yield reader) if op in MOVES else None
            if behind:
                return behind
        return None

    return resolve_each(name, normalization_behind, view.memo(normalization_of))


def _is_residual_sum(view: View, name: str) -> bool:
    """True if a normalization reads the tensor, or all readers are sums of two tensors of which that holds."""

    def holds(name: str) -> Generator[str, bool, bool]:
        if normalization_of(view, name):
            return True
        readers = view.readers[name]
        if not readers or view.is_output(name):
            return False
        for reader in readers:
            if not _is_sum(view.value[reader]) or not (yield reader):
                return False
        return True

    return resolve_each(name, holds, view.memo(_is_residual_sum))


def _is_sum(value: relax.Expr) -> bool:
    return op_name(value) == "add" and not any(is_const(arg) for arg in value.args)
