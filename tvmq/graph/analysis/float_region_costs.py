"""Cost of the float operators of an integer module: their arithmetic, and the conversions around them.

    float operations  two a multiply-accumulate; elsewhere one for each element of the largest tensor that an operator
                      reads or writes, times the steps that it takes (softmax: 5); none for what only moves values
    converted         elements that are dequantized for an operator, and elements of its result that are quantized

A conversion that several float operators share counts for the first of them. Conversions of the model's inputs and
results belong to no island.

`multiply_accumulates` serves the integer layers too: the ledger gives the share of a network that computes in integers.

Tests: tests/passes/realize/test_run_time_forms.py
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tvm import relax, tirx

from tvmq.graph.ledger import Ledger
from tvmq.graph.operators import OPERATORS, where
from tvmq.graph.operators.record import MASK, MOVE
from tvmq.graph.view import View, dtype_of, op_name, used_vars


def multiply_accumulates(call: relax.Expr) -> int:
    """Multiply-accumulates of a convolution in any layout, a transposed one or a product; 0 for any other operator."""
    record = OPERATORS.get(op_name(call))
    return record.macs(call) if record is not None and record.macs is not None else 0


# A mask (tril) compares the places of all its elements: it is no mere move
MOVES = where(kind=MOVE) - where(form=MASK)
# Passes over the tensor, by the last part of a name, so that relax.nn.softmax and tvmq.softmax share one. Softmax:
# maximum, subtract, exp, sum, divide. Layer norm: mean and variance of two steps each, then subtract, divide, multiply,
# add. RMS norm has no mean. Batch norm is a multiplication and an addition, since its statistics are constants.
STEPS = {"softmax": 5, "layer_norm": 8, "group_norm": 8, "instance_norm": 8, "rms_norm": 5, "gelu": 8, "batch_norm": 2}
CONVERSIONS = ("tvmq.quantize", "tvmq.dequantize")


@dataclass
class Cost:
    """Cost of one float operator; see the head of this file."""

    float_operations: int = 0
    converted: int = 0


def float_region_costs(view: View, layers: Mapping[str, Mapping[str, Any]]) -> dict[str, Cost]:
    """{float layer of the ledger: cost} of a realized module."""
    costs = {key: Cost() for key, entry in layers.items() if entry["precision"] == "float" and key in view.value}
    owner = _owners(view, costs)
    # every float operator of a layer counts, its bias and activation too: they run in float because the layer does
    for name, key in owner.items():
        costs[key].float_operations += operations(view.value[name])
    # A dequantize is paid for by the float operators that read it, a quantize by the one whose result it reads. Other
    # operators between integers have no owner: an input that is quantized at once is paid for by no layer.
    for var, value in view.bindings:
        if op_name(value) == "tvmq.dequantize":
            keys = [owner[reader] for reader in view.readers[var.name] if reader in owner]
        elif op_name(value) == "tvmq.quantize":
            keys = [owner[name] for name in used_vars(value) if name in owner]
        else:
            continue
        if keys:
            costs[keys[0]].converted += elements(var)
    return costs


def note_float_regions(view: View, ledger: Ledger) -> None:
    """Write the costs into the ledger, in place of those it has."""
    costs = float_region_costs(view, ledger.layers)
    for name, entry in ledger.layers.items():
        entry.pop("island", None)  # of a stage before: later passes turn float layers into integers
        if name in costs:
            entry["island"] = asdict(costs[name])


def _owners(view: View, known: Iterable[str]) -> dict[str, str]:
    """{variable of a float operator: layer}; what has no entry of its own (a bias, a relu) belongs to what it reads."""
    owner: dict[str, str] = {}
    layers = set(known)
    for var, value in view.bindings:
        if op_name(value) in CONVERSIONS:
            continue
        # integers have no owner, so that an operator behind them never joins the float layer in front of them
        if var.name in layers:
            owner[var.name] = var.name
        elif isinstance(var.ty, relax.TensorType) and dtype_of(var) == "float32":
            # a sum of two float layers goes to the one whose operand stands first: any choice counts it once
            operand_layers = [owner[name] for name in used_vars(value) if name in owner]
            if operand_layers:
                owner[var.name] = operand_layers[0]
    return owner


def operations(value: relax.Expr) -> int:
    """Float operations of one operator."""
    name = op_name(value)
    if not name or name in MOVES:
        return 0
    macs = multiply_accumulates(value)
    # a multiplication and an addition; the sizes of operands say little about a product
    if macs:
        return 2 * macs
    largest = max(map(elements, (value, *value.args)), default=0)
    return largest * STEPS.get(name.split(".")[-1], 1)


def elements(expr: relax.Expr) -> int:
    """Elements of a tensor, of all tensors of a tuple; 0 for shapes and numbers; dynamic dimensions count as 1."""
    fields = getattr(expr.ty, "fields", None)
    types = fields if fields is not None else [expr.ty]
    tensors = [ty for ty in types if isinstance(ty, relax.TensorType) and ty.shape is not None]
    return sum(math.prod(int(d) if isinstance(d, tirx.IntImm) else 1 for d in ty.shape) for ty in tensors)
