"""Recurrent layers: one kernel for all steps of a direction, in the layout of the IR.

Tests: tests/formats/onnx/importer/test_recurrent.py
"""

from __future__ import annotations

from tvmq.codegen.kernels.recurrent.recurrent import Recurrent, choose_recurrent
from tvmq.codegen.lower.lowerer import Lowerer
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.graph.sizes import name_dynamic_sizes
from tvmq.graph.view import const_value, is_const, op_name
from tvmq.numerics.recurrent import WHOLE_LENGTH


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower all steps of a recurrent layer to one kernel; False for a computed weight, and without a kernel."""
    call = lowerer.view.value[chain.head]
    gates, weight, terms, state, lengths, *scale = call.args
    if not all(map(is_const, (weight, terms, *scale))):
        return False
    sizes = name_dynamic_sizes([*gates.ty.shape, call.ty.shape[0], state.ty.shape[1], lengths.ty.shape[0]])
    steps, batch, _, rows, shared, each = sizes
    attrs, is_codes = call.attrs, op_name(call) == "tvmq.recurrent_codes"
    names = "each" if each != 1 or batch == 1 else "one"
    if is_const(lengths) and (const_value(lengths) >= (steps if isinstance(steps, int) else WHOLE_LENGTH)).all():
        names = "all"
    layer = Recurrent(
        str(attrs.kind),
        str(attrs.activations),
        float(attrs.clip),
        bool(attrs.reverse),
        bool(attrs.ends),
        steps,
        batch,
        rows if attrs.ends else steps,
        const_value(weight).shape[0],
        shared == 1 and batch != 1,
        names,
        is_codes,
    )
    arrays = (const_value(weight), const_value(terms), const_value(scale[0]) if is_codes else None)
    kernel = lowerer.choose(choose_recurrent, layer, *arrays)
    if kernel is None:
        return False
    inputs = [gates, state, *([] if names == "all" else [lengths])]
    values = [arg if is_const(arg) else lowerer.logical(arg.name) for arg in inputs]
    shape = list(call.ty.shape)
    lowerer.give_logical(chain.head, lowerer.call(kernel, values, shape, "float32", chain.result))
    return True
