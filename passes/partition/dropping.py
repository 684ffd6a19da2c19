"""Taking groups out of those that become integers, until those that are left can: each is asked again only when
something near it has gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from tvmq.graph.view import View, used_vars
from tvmq.graph.walk import reachable
from tvmq.passes.families.base import Group


class Dropping:
    """Groups that may go, in place.

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

    def until_stable(self, why: Callable[[Group], str | None], asked: Iterable[str] | None = None) -> None:
        """Remove all groups that `why` gives a reason for, and ask again, until there are none.

        why     may ask what makes a group's inputs, also behind operators that move codes, and who reads its result
        asked   the groups to ask first; all by default
        """
        waiting = list(self.groups if asked is None else asked)
        while waiting:
            known = {key: why(self.groups[key]) for key in waiting if key in self.groups}
            waiting = self.remove({key: reason for key, reason in known.items() if reason})

    def remove(self, lost: dict[str, str]) -> list[str]:
        """Remove these groups, {output: why}; gives the groups to ask again."""
        near = self.near(lost)
        for key, reason in lost.items():
            group = self.groups.pop(key)
            self._members.subtract(group.members)
            self._reasons[group.root] = reason
        return [key for key in near if key in self.groups]

    def near(self, lost: Iterable[str]) -> list[str]:
        """Groups that read what these make, also behind operators that move codes, and those that make what they
        read."""
        lost = list(lost)
        removed = set(lost)
        behind = reachable(lost, lambda key: self._read_by(key) if key in removed or self.groups[key].passes else ())
        before = [used for key in lost for member in self.groups[key].members for used in self._used(member)]
        return list(dict.fromkeys((*behind, *before)))

    def _read_by(self, key: str) -> list[str]:
        return [reader for reader in self._readers.get(key, ()) if reader in self.groups]

    def _used(self, member: str) -> list[str]:
        return [name for name in used_vars(self.view.value[member]) if name in self.groups]

    def all_read(self, group: Group) -> bool:
        """True if integer groups read the result, and nothing else does."""
        readers = self.view.readers[group.output]
        return bool(readers) and all(self._members[r] > 0 for r in readers) and not self.view.is_output(group.output)
