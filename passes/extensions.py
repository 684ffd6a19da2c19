"""Passes and operator families that do not stand in tvmq: what `qconfig(passes=..., operators=...)` names.

A pass runs behind prepare; a family treats the operators it lists as those of `OPS` are treated
(passes/families/base.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import tvm

from tvmq.base.by_name import object_named
from tvmq.errors import ConfigError
from tvmq.graph.legal_forms import PREPARED, check_form
from tvmq.passes import FAMILIES


def run_passes(mod: tvm.IRModule, names: Iterable[str]) -> tvm.IRModule:
    """A prepared module behind these passes, in order.

    raises   ConfigError for a pass that is not there, StageError for what it gives that is no prepared module of the
             same inputs and results
    """
    for name in names:
        run = object_named(name, "quantize", "pass")
        if not callable(run):
            raise ConfigError(f"quantize: {name!r} is a {type(run).__name__}, not a pass: a function of a module")
        after = run(mod)
        check_form(f"quantize, pass '{name}'", mod, after, PREPARED)
        mod = after
    return mod


def extension_families(names: Iterable[str]) -> list[Any]:
    """The operator families of these names.

    raises   ConfigError for one that is not there, lacks something, has the name of another, or lists an operator that
             TVM does not have
    """
    families: list[Any] = []
    names_in_use = set(FAMILIES)
    for target in names:
        family = object_named(target, "qconfig(operators=...)", "operator family")
        missing = [name for name in ("name", "operators", "group", "realize") if not hasattr(family, name)]
        if missing:
            raise ConfigError(
                f"qconfig(operators=...): {target!r} lacks {', '.join(missing)}; see tvmq.extension.Family"
            )
        if family.name in names_in_use:
            raise ConfigError(
                f"qconfig(operators=...): {target!r} is named '{family.name}', as another family is; rename it"
            )
        for name in family.operators:
            _check_operator(target, name)
        names_in_use.add(family.name)
        families.append(family)
    return families


def _check_operator(target: str, name: str) -> None:
    try:
        tvm.ir.Op.get(f"relax.{name}")
    except Exception as error:  # an AttributeError of TVM's in 0.27
        raise ConfigError(f"qconfig(operators=...): {target!r} lists '{name}', but TVM has no relax.{name}") from error


def families_by_operator(names: Iterable[str]) -> dict[str, Any]:
    """{operator: family}; of two families that list the same operator the last."""
    return {operator: family for family in extension_families(names) for operator in family.operators}


def definitions(names: Iterable[str]) -> dict[str, Callable[..., Any]]:
    """{operator: its definition on integers in NumPy}, of the families that give some."""
    by_operator: dict[str, Callable[..., Any]] = {}
    for family in extension_families(names):
        family_definitions: Mapping[str, Callable[..., Any]] = getattr(family, "definitions", {})
        by_operator.update(family_definitions)
    return by_operator
