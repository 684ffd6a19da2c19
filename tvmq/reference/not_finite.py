"""The first layer that makes NaN or infinities of finite numbers: what a later layer, or codes, may hide.

log -> relu -> quantize        a NaN of log ends as the lowest code, and all outputs are finite

Tests: tests/test_advice.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import tvm

from tvmq.graph.view import View, const_value, flatten_tuples, is_const, op_name, used_vars
from tvmq.reference import Reference


def first_not_finite(mod: tvm.IRModule, batches: Iterable[tuple[Mapping[str, np.ndarray], int]]) -> str:
    """The layer, as `NotFinite` says it, for batches of finite inputs and their numbers of samples; "" for none."""
    reference, samples = Reference(mod), 0
    watching = NotFinite(reference.view)
    for feed, count in batches:
        reference.run(feed, watch=partial(watching.watch, samples=range(samples, samples + count)))
        if watching.first:
            break
        samples += count
    return watching.first


class Kinds(NamedTuple):
    """Whether a tensor holds NaN, and whether it holds infinities."""

    nan: bool
    infinite: bool


class NotFinite:
    """Watches the values of runs of the definition.

    first    such as "log '/head/Log' makes NaN (what it reads holds none), first in sample 3"; "" for nothing.
             Constants may be infinite, as those of masks are
    """

    def __init__(self, view: View) -> None:
        self.view, self.first = view, ""
        self._kinds: dict[str, Kinds] = {}

    def watch(self, name: str, value: Any, samples: range) -> None:
        """Take in the result of a binding for a batch of these samples."""
        kinds = self._kinds[name] = _kinds_of(value)
        if self.first or not any(kinds):
            return
        operands = self._operands(name)
        if kinds.nan > operands.nan or kinds.infinite > any(operands):
            layer = f"{op_name(self.view.value[name])} '{', '.join(self.view.sources(name))}'"
            kind = "NaN" if kinds.nan > operands.nan else "infinities"
            self.first = f"{layer} makes {kind} (what it reads holds none), first in sample {_first(value, samples)}"

    def _operands(self, name: str) -> Kinds:
        """The kinds of all that a binding reads; for what disappeared inside an island, of what that reads."""
        value = self.view.value[name]
        kinds = [_kinds_of(const_value(arg)) for arg in flatten_tuples(getattr(value, "args", ())) if is_const(arg)]
        for used in used_vars(value):
            if used not in self._kinds and used in self.view.value:
                self._kinds[used] = self._operands(used)
            kinds.append(self._kinds.get(used, Kinds(False, False)))
        return Kinds(any(kind.nan for kind in kinds), any(kind.infinite for kind in kinds))


def _floats(value: Any) -> list[np.ndarray]:
    parts = value if isinstance(value, list | tuple) else [value]
    return [array for array in map(np.asarray, parts) if array.dtype.kind == "f"]


def _kinds_of(value: Any) -> Kinds:
    floats = [array for array in _floats(value) if not np.isfinite(array).all()]
    return Kinds(any(np.isnan(array).any() for array in floats), any(np.isinf(array).any() for array in floats))


def _first(value: Any, samples: range) -> int:
    """The first sample whose values are not finite; that of the batch where they do not stand on axis 0."""
    array = next(array for array in _floats(value) if not np.isfinite(array).all())
    along = array.ndim and array.shape[0] == len(samples)
    return samples[int(np.argwhere(~np.isfinite(array))[0][0])] if along else samples[0]
