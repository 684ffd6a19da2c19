"""Sizes that a model of free dimensions has code of its own for, beside the code that takes any size.

    tvmq.build(qmod, sizes={"batch": [1, 8], "sequence": [64, 128]})

gives main as it was and main_1 .. main_4, one for each combination: functions of fixed sizes, with all kernels and
choices that these have, that share constants and kernels wherever they are equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import tvm

from tvmq.errors import ConfigError
from tvmq.graph.functions import inline_functions
from tvmq.graph.symbolic import with_sizes
from tvmq.passes.fold_constants import fold_constants

Sizes = Mapping[str, int | Sequence[int]]
MOST = 32  # functions; each is compiled by itself


def divide_sizes(sizes: Sizes | None) -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    """(dimensions that become numbers, common sizes of those that stay free).

    raises  ConfigError for an empty list

    >>> divide_sizes({"batch": 1, "sequence": [64, 128]})
    ({'batch': 1}, {'sequence': (64, 128)})
    """
    fixed: dict[str, Any] = {}
    common: dict[str, tuple[int, ...]] = {}
    for name, value in (sizes or {}).items():
        if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
            fixed[name] = value
        elif len(value) == 0:
            raise ConfigError(f"sizes: '{name}' has an empty list; name a size or leave '{name}' out")
        else:
            common[name] = tuple(dict.fromkeys(value))
    return fixed, common


def combinations(
    mod: tvm.IRModule, common: Mapping[str, Sequence[int]], batch: str | None, limits: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, int], ...]:
    """What code is compiled for: every combination of common sizes, largest first.

    batch    dimension whose samples are run one after the other; one sample needs no code of its own but beside
             common sizes of other dimensions
    limits   {free dimension: {"least", "most", "why"}}
    raises   ConfigError for a name that is no free dimension, a size that the model does not take, or too many
    """
    if not common:
        return ()
    for name, sizes in common.items():
        for size in sizes:
            with_sizes(mod, {name: size})
            _check_limit(name, size, limits.get(name))
    axes = {name: sorted(sizes, reverse=True) for name, sizes in common.items()}
    if batch is not None:
        axes[batch] = sorted({*axes.get(batch, ()), 1}, reverse=True)
    found = [dict(zip(axes, sizes, strict=True)) for sizes in product(*axes.values())]
    found = [sizes for sizes in found if sizes != {batch: 1}]
    if len(found) > MOST:
        raise ConfigError(f"sizes: {len(found)} combinations of common sizes, at most {MOST} are compiled; name fewer")
    return tuple(found)


def _check_limit(name: str, size: int, limit: Mapping[str, Any] | None) -> None:
    if limit is not None and not limit["least"] <= size <= limit["most"]:
        why = f": {limit['why']}" if limit["why"] else ""
        raise ConfigError(f"sizes: '{name}' cannot be {size}, the model takes {limit['least']} to {limit['most']}{why}")


def of_sizes(mod: tvm.IRModule, sizes: Mapping[str, int]) -> tvm.IRModule:
    """The module, in one function, for these sizes."""
    return fold_constants(with_sizes(inline_functions(mod), sizes))  # a slice of a table that ends at the size, say


def function_name(number: int) -> str:
    """Of the code for a combination, counted from 0.

    >>> function_name(0)
    'main_1'
    """
    return f"main_{number + 1}"
