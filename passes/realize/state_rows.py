"""Keep appended states as codes with a scale for each row, where run-time codes are all that layers read of them.

Before                                            After
    main(x, past):                                    main(x, past in int8, past.scale):
        present = concat(past, new)                       s_new = dynamic_scale(new)
        s = dynamic_scale(present)                        present = concat(past, dynamic_quantize(new, s_new))
        q = dynamic_quantize(present, s)                  s = concat(past.scale, s_new)
        return y, present                                 return y, present, s

Needs     scales that no two rows share: the axis that rows are appended to is none that a scale is made over.
Leaves    a state whose floats are read by anything else.
Numerics  a row has the codes that it had: they were made of this row alone. A row of 64 floats takes 68 bytes, not 256,
          is copied so, and is made codes once, not in each call that reads it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import tvm
from tvm import relax

from tvmq.graph.ledger import get_ledger, with_ledger
from tvmq.graph.names import OUTPUTS, input_names, output_names, rename_inputs
from tvmq.graph.rewrite import Rewriter
from tvmq.graph.state_pairs import state_pairs, state_variables, with_pairs
from tvmq.graph.view import View, dtype_of, flatten_tuples, op_name, rank_of
from tvmq.state.pair import APPENDED, StatePair

SCALE, QUANTIZE = "tvmq.dynamic_scale", "tvmq.dynamic_quantize"
SUFFIX = ".scale"  # of the second state's names


@dataclass(frozen=True)
class _Rows:
    """An appended state that is read as codes alone.

    scale, codes  variables of its scales and of its codes
    """

    pair: StatePair
    param: relax.Var
    result: relax.Var
    scale: relax.Var
    codes: relax.Var


def encode_state_rows(mod: tvm.IRModule) -> tvm.IRModule:
    """Keep the states of a realized module as codes with a scale for each row, where that changes no bit."""
    view = View(mod)
    states = [rows for pair, param, result in state_variables(view) if (rows := _rows_of(view, pair, param, result))]
    if not states:
        return mod
    ledger = get_ledger(mod)
    ledger.notes += [f"state: {one.pair.input} is kept in int8 codes with a scale for each row" for one in states]
    pairs = [*state_pairs(mod), *(_scale_pair(one.pair) for one in states)]
    return with_ledger(with_pairs(_rewrite(mod, states), pairs), ledger)


def _rows_of(view: View, pair: StatePair, param: relax.Var, result: relax.Expr) -> _Rows | None:
    """The state, if codes of its rows are all that is read of it."""
    concat = view.producer(result)
    if concat is None or pair.kind != APPENDED or dtype_of(param) != "float32" or op_name(concat) != "concat":
        return None
    if list(view.readers[param.name]) != [result.name] or len(concat.args[0].fields) != 2:
        return None
    readers = {op_name(view.value[name]): view.var[name] for name in view.readers[result.name]}
    if set(readers) != {SCALE, QUANTIZE} or len(view.readers[result.name]) != 2:
        return None
    scale, codes = readers[SCALE], readers[QUANTIZE]
    first, count = (int(getattr(view.value[scale.name].attrs, name)) for name in ("first", "count"))
    if not view.value[codes.name].args[1].same_as(scale) or first <= (pair.axis or 0) < first + count:
        return None
    return None if any(map(view.is_output, (scale.name, codes.name))) else _Rows(pair, param, result, scale, codes)


def _scale_pair(pair: StatePair) -> StatePair:
    return replace(pair, input=pair.input + SUFFIX, output=pair.output + SUFFIX)


def _rewrite(mod: tvm.IRModule, states: list[_Rows]) -> tvm.IRModule:
    rewriter = Rewriter(mod)
    view = rewriter.view
    by_param, by_result = ({getattr(one, name).name: one for one in states} for name in ("param", "result"))
    by_scale, by_codes = ({getattr(one, name).name: one for one in states} for name in ("scale", "codes"))
    params = [_in_codes(param, by_param) for param in rewriter.params]
    old = {one.param.name: relax.Var(f"{one.param.name}_scale", _scale_type(one)) for one in states}
    codes = {param.name: param for param in params}
    new: dict[str, tuple[relax.Var, relax.Var]] = {}
    for var, value in view.bindings:
        rewriter.at(var.name)
        if var.name in by_result:
            new[var.name] = _append(rewriter, by_result[var.name], value, codes[by_result[var.name].param.name], old)
        elif var.name in by_scale or var.name in by_codes:
            one = by_scale.get(var.name) or by_codes[var.name]
            rewriter.bind(var, new[one.result.name][var.name in by_scale])
        else:
            rewriter.bind(var, rewriter.emit(rewriter.substitute(value), var.name))
    leaves = flatten_tuples([view.func.body.body])
    results = [new[leaf.name][0] if leaf.name in new else rewriter.substitute(leaf) for leaf in leaves]
    names = list(input_names(view.func).values())
    outputs = output_names(view.func, len(leaves))
    module = rewriter.finish([*params, *old.values()], [*results, *(new[one.result.name][1] for one in states)])
    func = rename_inputs(module["main"], [*names, *(_scale_pair(one.pair).input for one in states)])
    outputs += [_scale_pair(one.pair).output for one in states]
    module["main"] = func.with_attr(OUTPUTS, json.dumps(outputs)).with_attr("num_input", len(func.params))
    return module


def _in_codes(param: relax.Var, states: dict[str, _Rows]) -> relax.Var:
    return relax.Var(param.name, relax.TensorType(param.ty.shape, "int8")) if param.name in states else param


def _scale_type(one: _Rows) -> relax.TensorType:
    """That of the scales of the rows that the state had before the call."""
    shape, of_scale = list(one.param.ty.shape), list(one.scale.ty.shape)
    axis = (one.pair.axis or 0) % rank_of(one.param)
    return relax.TensorType([size if at == axis else of_scale[at] for at, size in enumerate(shape)], "float32")


def _append(
    rewriter: Rewriter, one: _Rows, concat: relax.Call, past: relax.Var, scales: dict[str, relax.Var]
) -> tuple[relax.Var, relax.Var]:
    """Codes and scales of all rows: those of before, and of the new ones."""
    view, rows, axis = rewriter.view, rewriter.substitute(concat.args[0].fields[1]), one.pair.axis
    to_scale, to_codes = view.value[one.scale.name], view.value[one.codes.name]
    name = one.result.name
    scale = rewriter.emit(relax.Call(to_scale.op, [rows], to_scale.attrs), f"{name}_row_scale")
    codes = rewriter.emit(relax.Call(to_codes.op, [rows, scale], to_codes.attrs), f"{name}_row_codes")
    whole = rewriter.emit(relax.op.concat([past, codes], axis=axis), name)
    rewriter.bind(one.result, whole)
    return whole, rewriter.emit(relax.op.concat([scales[one.param.name], scale], axis=axis), f"{name}_scales")
