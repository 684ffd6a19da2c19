"""Codes of rows with scales made at run time, and the floats before them: patterns/run_time_codes.py says which.

Tests: tests/codegen/kernels/elementwise/test_row_codes.py
"""

from __future__ import annotations

from tvmq.codegen.kernels.elementwise.row_codes import RowCodes, choose_row_codes
from tvmq.codegen.lower.lowerer import Lowerer, kernel_shape
from tvmq.codegen.lower.patterns.chains import Chain
from tvmq.codegen.lower.patterns.float_chain import float_steps
from tvmq.codegen.lower.patterns.run_time_codes import DEQUANTIZE, QUANTIZE, SCALE
from tvmq.graph.view import const_value, op_name


def lower(lowerer: Lowerer, chain: Chain) -> bool:
    """Lower a chain to one kernel; False for one that has no more than its head."""
    view = lowerer.view
    operators = {op_name(view.value[name]): name for name in chain.members}
    if len(chain.members) == 1:
        return False
    head = view.value[chain.head]
    inputs, floats, w_scale = [head.args[0]], None, None
    reals = [name for name in chain.members if op_name(view.value[name]) not in (SCALE, QUANTIZE)]
    outputs = {}
    if op_name(head) == DEQUANTIZE:
        shape = list(view.var[chain.head].ty.shape)
        floats, w_scale = float_steps(view, reals[0], reals[1:], int(shape[-1])), const_value(head.args[2]).reshape(-1)
        inputs.append(head.args[1])
        if QUANTIZE not in operators or view.is_output(reals[-1]) or set(view.readers[reals[-1]]) - set(chain.members):
            outputs["reals"] = (reals[-1], shape, "float32")
    else:
        shape = list(head.args[0].ty.shape)
    largest_code = 127
    if QUANTIZE in operators:
        largest_code = int(view.value[operators[QUANTIZE]].attrs.largest_code)
        outputs["scale"] = (operators[SCALE], [*shape[:-1], 1], "float32")
        outputs["codes"] = (operators[QUANTIZE], shape, "int8")
    steps = None if floats is None else floats.steps
    channels = () if floats is None else tuple(floats.channels)
    tensors = [lowerer.logical(value.name) for value in inputs]
    sizes = kernel_shape(tensors[0])
    rows = RowCodes(sizes, steps, channels, tuple(outputs), largest_code)
    kernel = lowerer.choose(choose_row_codes, rows, w_scale, floats)
    if kernel is None:
        return False
    values = lowerer.call_all(kernel, tensors, list(outputs.values()))
    for (name, _, _), value in zip(outputs.values(), values, strict=True):
        lowerer.give_logical(name, value)
    return True
