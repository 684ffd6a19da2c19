"""Taking groups out of those that become integers, until those that are left can: each is asked again only when
something near it has gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import tvm

from tvmq.graph.view import View, dtype_of, used_vars
from tvmq.graph.walk import reachable
from tvmq.passes.families.base import Draft, Group
from tvmq.passes.partition.float_exceptions import leave_results_float
from tvmq.passes.partition.residual_streams import is_int16_residual


class Dropping:
    """Removal of groups that stay float, in place.

    groups   {output: group}, from which they are removed
    reasons  {root: why it stays float}, to which they are added
    """

    def __init__(self, view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
        self.view, self.groups, self._reasons = view, groups, reasons
        self._members = Counter(member for group in groups.values() for member in group.members)
        self._readers: dict[str, list[str]] = {}
        for key, group in groups.items():
            for name in group.inputs:
                self._readers.setdefault(name, []).append(key)

    def until_stable(self, why: Callable[[Group], str | None], first: Iterable[str] | None = None) -> None:
        """Remove all groups that `why` gives a reason for, and ask again, until there are none.

        why     may ask what makes a group's inputs, also behind operators that move codes, and who reads its result
        first   the groups to ask first; all by default
        """
        waiting = list(self.groups if first is None else first)
        while waiting:
            known = {key: why(self.groups[key]) for key in waiting if key in self.groups}
            waiting = self.remove({key: reason for key, reason in known.items() if reason})

    def remove(self, lost: dict[str, str]) -> list[str]:
        """Remove these groups, {output: why}; gives the groups to ask again."""
        near = self.neighbours(lost)
        for key, reason in lost.items():
            group = self.groups.pop(key)
            self._members.subtract(group.members)
            self._reasons[group.root] = reason
        return [key for key in near if key in self.groups]

    def neighbours(self, lost: Iterable[str]) -> list[str]:
        """Groups that read what these make, also behind operators that move codes, and those that make what they
        read."""
        lost = list(lost)
        removed = set(lost)
        behind = reachable(lost, lambda key: self._readers_of(key) if key in removed or self.groups[key].passes else ())
        before = [used for key in lost for member in self.groups[key].members for used in self._sources_of(member)]
        return list(dict.fromkeys((*behind, *before)))

    def _readers_of(self, key: str) -> list[str]:
        return [reader for reader in self._readers.get(key, ()) if reader in self.groups]

    def _sources_of(self, member: str) -> list[str]:
        return [name for name in used_vars(self.view.value[member]) if name in self.groups]

    def all_read(self, group: Group) -> bool:
        """True if integer groups read the result, and nothing else does."""
        readers = self.view.readers[group.output]
        return bool(readers) and all(self._members[r] > 0 for r in readers) and not self.view.is_output(group.output)


def drop_detached(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
    """Keep only groups that connect to a convolution or product; the others would pay conversions for nothing.

    Those at the very end go as well, see float_exceptions.py.
    """
    leave_results_float(view, groups, reasons)
    why = "default: an operator between float operators stays float"
    dropping = Dropping(view, groups, reasons)

    def reason_detached(group: Group) -> str | None:
        return None if group.strategy.anchor or _is_attached(dropping, group) else why

    dropping.until_stable(reason_detached)
    while alone := _unanchored_groups(groups):
        dropping.until_stable(reason_detached, dropping.remove(dict.fromkeys(alone, why)))


def drop_floats(view: View, groups: dict[str, Group], reasons: dict[str, str]) -> None:
    """Keep every group that reads codes or an input, or that only groups read, whatever it costs."""
    why = "default: an operator behind float operators stays float"
    dropping = Dropping(view, groups, reasons)
    dropping.until_stable(lambda group: None if _readable(dropping, group) else why)


def _readable(dropping: Dropping, group: Group) -> bool:
    """True if all inputs are codes or can be quantized, unless float operators stand on both sides."""
    view = dropping.view
    others = [name for name in group.inputs if name not in dropping.groups]
    if not all(_cheap_to_quantize(view, name) for name in others):
        return False
    floats = [name for name in others if name not in view.params]
    if group.strategy.anchor or not group.inputs or len(floats) < len(group.inputs):
        return True
    return dropping.all_read(group)


def _unanchored_groups(groups: dict[str, Group]) -> list[str]:
    """Groups that read each other's codes, but none of a convolution or product, and give none to one.

    Embeddings stay: what they save is memory; so do sums of a stream that is to be integers.
    """
    known = {member: key for key, group in groups.items() for member in group.members}
    linked: dict[str, set[str]] = {key: set() for key in groups}
    for key, group in groups.items():
        for source in {known[name] for name in group.inputs if name in known}:
            linked[key].add(source)
            linked[source].add(key)
    reached = [key for key, group in groups.items() if group.strategy.anchor or is_int16_residual(group)]
    seen = set(reached)
    while reached:
        unseen = linked[reached.pop()] - seen
        seen |= unseen
        reached.extend(unseen)
    return [key for key, group in groups.items() if key not in seen and not groups[key].strategy.holds_codes]


def release_links(draft: Draft) -> None:
    """Take the links that a float operator reads out of the chains of tables: they are computed in float for it."""
    view, groups = draft.view, draft.groups
    integer = {member for group in groups.values() for member in group.members}
    links = {link for group in groups.values() for link in group.strategy.links(group)}
    floats = [link for link in links if any(reader not in integer for reader in view.readers[link])]
    wanted = set(reachable(floats, lambda link: links.intersection(used_vars(view.value[link]))))
    for group in groups.values():
        group.members = [member for member in group.members if member not in wanted]
    draft.reasons.update(dict.fromkeys(wanted, "default: a float operator reads it"))


def _is_attached(dropping: Dropping, group: Group) -> bool:
    view, groups = dropping.view, dropping.groups
    if group.strategy.is_asked_for:
        return True  # a float stream is quantized for it
    inputs = set(group.inputs)
    from_integers = {name for name in inputs if name in groups}
    others = inputs - from_integers
    if not others:
        return True
    if from_integers and all(_cheap_to_quantize(view, name) for name in others):
        return True
    return group.passes and all(_cheap_to_quantize(view, name) for name in others) and dropping.all_read(group)


def _cheap_to_quantize(view: View, name: str) -> bool:
    """True for what is quantized once at the border: float tensors."""
    return not isinstance(view.var[name].ty, tvm.ir.TupleType) and dtype_of(view.var[name]) == "float32"
