"""Evidence for outputs that decibels cannot judge: places and counts, and what is looked up by them.

    y = argmax(x)             a step of x is another place, and no signal to error says how bad that is: x is judged

The float tensors that an ordering operator reads are evidence for all outputs behind it. A quantized module has them
too, as floats or codes, under the names that the source gave them. Floats behind argmax and argmin alone are judged
besides, all but a quarter of them: near ties look up another place, as they may, while the rest is as good as any
output.

Tests: tests/quantization/guard/test_guard.py
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tvm
from tvm import relax

from tvmq.graph.analysis.layer_tensors import LayerTensor, layer_tensors, pairs
from tvmq.graph.probes import with_outputs
from tvmq.graph.state_pairs import state_outputs
from tvmq.graph.view import View, dtype_of, op_name, used_vars
from tvmq.quantization.meaning.recognition import LOOKUPS, ORDERING, results_behind

TOLERATED = 0.25  # of the numbers that are looked up by an argmax may be of another place


def judged_outputs(module: tvm.IRModule) -> list[int]:
    """Positions of the outputs that decibels can judge: floats that do not stand behind an ordering of values, and are
    no state, which the outputs of the next calls are made of."""
    view, states = View(module), state_outputs(module)
    ordered = results_behind(view, ORDERING)
    return [
        index
        for index, name in enumerate(view.outputs)
        if index not in states and name not in ordered and _is_float(view, name)
    ]


def looked_up_outputs(module: tvm.IRModule) -> list[int]:
    """Positions of the outputs that are floats behind an argmax or argmin, and behind no other ordering."""
    view = View(module)
    looked_up, ordered = results_behind(view, LOOKUPS), results_behind(view, ORDERING - LOOKUPS)
    return [
        index
        for index, name in enumerate(view.outputs)
        if name in looked_up and name not in ordered and _is_float(view, name)
    ]


def drop_largest_errors(wanted: np.ndarray, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both arrays flat, without the TOLERATED part of the numbers where they differ most.

    >>> drop_largest_errors(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.5, 9.0, 4.0]))[1].tolist()
    [1.0, 4.0, 2.5]
    """
    wanted, got = wanted.ravel(), got.ravel()
    order = np.argsort(np.abs(wanted - got), kind="stable")
    kept = order[: int(np.ceil(len(order) * (1 - TOLERATED)))]
    return wanted[kept], got[kept]


def find_evidence(prepared: tvm.IRModule, quantized: tvm.IRModule) -> list[LayerTensor]:
    """Tensors of a float module that orderings read, of those that its outputs need; none that stand behind another.

    quantized  the module made of it: what it lacks is left out
    """
    view = View(prepared)
    ordered = results_behind(view, ORDERING)
    inputs = {param.name for param in view.func.params}  # the same in both modules
    read = {
        name: None
        for var, value in view.bindings
        if op_name(value) in ORDERING and _is_needed(view, var.name)
        for name in used_vars(value)
        if name not in ordered and name not in inputs and _is_float(view, name)
    }
    if not read:
        return []
    known = {pair.a.unrounded: pair.a for pair in pairs(layer_tensors(prepared), layer_tensors(quantized))}
    return [known[name] for name in read if name in known]


def with_evidence(module: tvm.IRModule, evidence: Sequence[LayerTensor]) -> tvm.IRModule | None:
    """The module whose results are the evidence as floats, then its own; None where it lacks some."""
    if not evidence:
        return module
    counterparts = {id(pair.a): pair.b for pair in pairs(evidence, layer_tensors(module))}
    tensors = [counterparts.get(id(tensor)) for tensor in evidence]
    wanted = [(tensor.value, tensor.codes.get(tensor.value)) for tensor in tensors if tensor is not None]
    return with_outputs(module, wanted) if len(wanted) == len(evidence) else None


def _is_needed(view: View, name: str) -> bool:
    """True for what an output is made of."""
    waiting, seen = [name], {name}
    while waiting:
        current = waiting.pop()
        if view.is_output(current):
            return True
        for reader in view.readers[current]:
            if reader not in seen:
                seen.add(reader)
                waiting.append(reader)
    return False


def _is_float(view: View, name: str) -> bool:
    var = view.var[name]
    return isinstance(var.ty, relax.TensorType) and dtype_of(var) == "float32"
