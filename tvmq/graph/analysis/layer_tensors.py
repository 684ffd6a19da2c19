"""Layer tensors: the results of a module's layers, whatever its stage, and the alignment of those of two modules.

A float module has one tensor an operator, a quantized one has one a group of fused operators. Passes keep the variable
of a group's result: tensors of one variable and a common name of the source belong together. Others (modules that were
imported apart) are paired by names alone: a tensor stands for the names of which it is the last one in its module, and
two tensors belong together if each is the latest of its module among the names of the other. A name that several uses
share (one activation module, called twice) pairs nothing by itself.

Tests: tests/tools/analysis/test_compare.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.ledger import Ledger, get_ledger
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name

ROUNDING = ("tvmq.quantize", "tvmq.simulated_quantize")


@dataclass(frozen=True, eq=False)
class Encoding:
    """Encoding of codes: real value of one step and the code of 0.0."""

    scale: np.ndarray
    zero_point: np.ndarray
    axis: int = -1


@dataclass(frozen=True, eq=False)
class LayerTensor:
    """The result of a layer.

    names     of the source
    operator  family or Relax operator; "input" for an input of the model
    integer   True if the layer computes in integers, or in floats that are rounded like them
    unrounded variable of the result, read by float operators
    rounded   variable of the result as integer layers read it; `unrounded` where that is the same
    codes     {variable: what its integers mean}, of those of the two that hold integers
    step      of the variable that is compared, if it stands for codes
    """

    names: tuple[str, ...]
    operator: str
    integer: bool
    unrounded: str
    rounded: str
    codes: Mapping[str, Encoding]
    step: Encoding | None

    @property
    def value(self) -> str:
        """The variable that is compared."""
        return self.rounded if self.integer else self.unrounded


@dataclass(frozen=True, eq=False)
class LayerPair:
    """A layer that both modules have."""

    a: LayerTensor
    b: LayerTensor

    @property
    def step(self) -> Encoding | None:
        """Encoding of b; of a if b has none."""
        return self.b.step or self.a.step


def layer_tensors(mod: tvm.IRModule) -> list[LayerTensor]:
    """Inputs, then all results of layers that are floats or codes of a known scale, in order."""
    view, ledger = View(mod), get_ledger(mod)
    integer = {name: entry for name, entry in ledger.layers.items() if is_integer(entry)}
    integer_sources = integer_names(ledger)
    tensors = [_tensor(view, name, {"op": "input"}) for name in view.params]
    for var, _ in view.bindings:
        # a float layer that could have been fused has its operators apart, each with a name of its own
        # a bias behind a product whose scales are made at run time is an operator of its own, under the same name
        of_its_own = var.name in ledger.layers and str(getattr(var.ty, "dtype", "")) == "float32"
        if var.name in integer or of_its_own or _is_float_layer(view, var.name, integer_sources):
            tensors.append(_tensor(view, var.name, integer.get(var.name, {})))
    return [tensor for tensor in tensors if tensor is not None]


def _is_float_layer(view: View, name: str, integer: set[str]) -> bool:
    """True for the result of a float operator, and not of one that we put beside integer layers."""
    return integer.isdisjoint(view.sources(name)) and op_name(view.value[name]) not in (*ROUNDING, "tvmq.dequantize")


def is_integer(entry: Mapping[str, Any]) -> bool:
    """True if an entry of the ledger is of a layer that computes in integers."""
    return entry.get("precision", "float") != "float"


def _tensor(view: View, name: str, entry: Mapping[str, Any]) -> LayerTensor | None:
    if not isinstance(view.var[name].ty, relax.TensorType):
        return None
    rounded = _rounded_variable(view, name)
    steps = {variable: _step(view, variable, entry) for variable in (name, rounded)}
    is_codes = [variable for variable in steps if dtype_of(view.var[variable]) != "float32"]
    if any(steps[variable] is None for variable in is_codes):
        return None
    operator = entry.get("op") or op_name(view.value[name])
    integer = rounded != name if operator == "input" else is_integer(entry)
    return LayerTensor(
        tuple(entry.get("layers") or view.sources(name)),
        operator,
        integer,
        name,
        rounded,
        {variable: step for variable, step in steps.items() if step is not None and variable in is_codes},
        steps[rounded if integer else name],
    )


def _rounded_variable(view: View, name: str) -> str:
    """The variable behind the rounding of a tensor, the tensor itself where there is none."""
    for reader in view.readers[name]:
        if op_name(view.value[reader]) in ROUNDING:
            return reader
    return name


def _step(view: View, name: str, entry: Mapping[str, Any]) -> Encoding | None:
    """Encoding of a variable's codes, or of the codes that it is rounded to; None for plain floats."""
    call = view.value.get(name)
    if call is not None and op_name(call) in ROUNDING and is_const(call.args[1]):
        step = Encoding(const_value(call.args[1]), const_value(call.args[2]), int(call.attrs.axis))
        return step if np.all(step.scale > 0) else None
    output = entry.get("output")
    if dtype_of(view.var[name]) == "float32" or not isinstance(output, Mapping):
        return None
    return Encoding(np.array(output["scale"], np.float32), np.array(output["zero_point"], np.int32))


def pairs(a: Sequence[LayerTensor], b: Sequence[LayerTensor]) -> list[LayerPair]:
    """Layers of both modules, in the order of b; see the head of this file."""
    partners = _partners(a, b)
    both = [(a[partners[index]], tensor) for index, tensor in enumerate(b) if index in partners]
    return [LayerPair(x, y) for x, y in both if y.operator != "input" or x.integer or y.integer]


def find_unpaired(a: Sequence[LayerTensor], b: Sequence[LayerTensor]) -> list[LayerTensor]:
    """Integer layers of b for which `pairs` has no layer of a."""
    partners = _partners(a, b)
    return [y for index, y in enumerate(b) if index not in partners and y.integer and y.operator != "input"]


def unique_names(tensors: Sequence[LayerTensor]) -> list[str]:
    """The last name of each tensor; of several that share it all but the first are numbered, as in "relu#2"."""
    count: dict[str, int] = {}
    names = []
    for tensor in tensors:
        name = tensor.names[-1]
        count[name] = count.get(name, 0) + 1
        names.append(name if count[name] == 1 else f"{name}#{count[name]}")
    return names


def _partners(a: Sequence[LayerTensor], b: Sequence[LayerTensor]) -> dict[int, int]:
    """{index in b: index in a}."""
    variables = {tensor.unrounded: index for index, tensor in enumerate(a)}
    partners = {
        index: variables[tensor.unrounded]
        for index, tensor in enumerate(b)
        if tensor.unrounded in variables
        and not set(tensor.names).isdisjoint(a[variables[tensor.unrounded]].names)
        and not _goes_on(tensor, b[index + 1 : index + 2])
    }
    last_a, last_b, shared = _last(a), _last(b), _shared_names(a) | _shared_names(b)
    partners_in_a = set(partners.values())
    for index, tensor in enumerate(b):
        other = None if index in partners or not shared.isdisjoint(tensor.names) else _latest(tensor, last_a)
        if other is not None and other not in partners_in_a and _latest(a[other], last_b) == index:
            partners[index] = other
    return partners


def _goes_on(tensor: LayerTensor, following: Sequence[LayerTensor]) -> bool:
    """True for a part of a float layer whose next operator carries the same names: a product before its bias."""
    return not tensor.integer and any(other.names == tensor.names and not other.integer for other in following)


def _shared_names(tensors: Sequence[LayerTensor]) -> set[str]:
    """Names that tensors carry with others between them: several uses of one layer of the source."""
    shared, at = set[str](), dict[str, int]()
    for index, tensor in enumerate(tensors):
        shared |= {name for name in tensor.names if at.get(name, index) < index - 1}
        at |= dict.fromkeys(tensor.names, index)
    return shared


def _last(tensors: Sequence[LayerTensor]) -> dict[str, int]:
    """{source name: the last tensor that carries it}."""
    return {name: index for index, tensor in enumerate(tensors) for name in tensor.names}


def _latest(tensor: LayerTensor, last: Mapping[str, int]) -> int | None:
    """The latest tensor of the other module among the names of this one."""
    return max((last[name] for name in tensor.names if name in last), default=None)


def integer_names(ledger: Ledger) -> set[str]:
    """Names of the source that compute in integers."""
    return {name for entry in ledger.layers.values() if is_integer(entry) for name in entry.get("layers", ())}
